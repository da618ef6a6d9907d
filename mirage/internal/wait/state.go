package wait

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/regression/tree"
)

// State holds what a forecaster has learnt from a log by a time. Restore is a tenth of
// the work of learning it again.
type State struct {
	At      int64             `json:"at"`     // Unix seconds
	First   int               `json:"first"`  // job of the log from which on waits were predicted
	Values  []float64         `json:"values"` // predicted, on the scale of toScale
	Weights []float64         `json:"weights"`
	Trees   []json.RawMessage `json:"trees"`
}

// State returns what the forecaster has learnt by now.
func (f *Forecaster) State() (State, error) {
	s := State{At: f.replay.now, First: min(f.warm, f.next), Weights: f.model.weights}
	for _, p := range f.asked[s.First:] {
		s.Values = append(s.Values, p.mixed)
	}
	for _, t := range f.model.trees {
		var b bytes.Buffer
		if err := t.WriteJSON(&b); err != nil {
			return s, err
		}
		s.Trees = append(s.Trees, b.Bytes())
	}
	return s, nil
}

// ErrState is returned for a state that is not of the forecaster's log.
var ErrState = errors.New("state of another log")

// Restore brings a new forecaster to the time of a state of the same log and settings. It
// answers as the one that had learnt, and learns no more. The error wraps ErrState or
// tree.ErrModel.
func (f *Forecaster) Restore(ctx context.Context, s State) error {
	for _, b := range s.Trees {
		t, err := tree.ReadModel(bytes.NewReader(b))
		if err != nil {
			return err
		}
		f.model.trees = append(f.model.trees, t)
	}
	f.model.weights = s.Weights
	f.fixed = true
	for !f.Done() && f.replay.jobs[f.next].Submit < s.At {
		if err := f.advance(ctx, f.replay.jobs[f.next].Submit); err != nil {
			return err
		}
		value := math.NaN()
		if i := f.next - s.First; i >= len(s.Values) {
			return fmt.Errorf("%w: it has %d predicted waits", ErrState, len(s.Values))
		} else if i >= 0 {
			value = s.Values[i]
		}
		f.submit(forecast{mixed: value})
	}
	if f.next != s.First+len(s.Values) {
		return fmt.Errorf("%w: it is of %d jobs, not of %d", ErrState, s.First+len(s.Values), f.next)
	}
	return f.advance(ctx, s.At)
}
