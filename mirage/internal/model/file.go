package model

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Model is a trained model: a policy.Policy that knows from which expected
// reward on a decision should submit. It may be asked from many goroutines.
type Model struct {
	Kind      string  `json:"model"`
	FromHours float64 `json:"from_hours"`
	// Band holds the model's errors on samples that it was not fitted on, in hours; nil if they
	// are not known.
	Band *uncertainty.Band `json:"wait_band,omitempty"`
	// Origin describes the training samples.
	Origin *Origin `json:"trained_on"`

	scorer Scorer
}

// modelFile is a stored model.
type modelFile struct {
	Model
	Features []string        `json:"features"`
	Fitted   json.RawMessage `json:"fitted"`
}

var _ policy.Policy = (*Model)(nil)

// Decide submits when the reward that the model expects reaches FromHours. Below zero
// that leaves a margin against interruptions, above it one against overlap.
func (m *Model) Decide(s *policy.State) (policy.Decision, error) {
	x, err := stateFeatures(s)
	if err != nil {
		return policy.Decision{}, err
	}
	hours, err := m.scorer.Hours(x)
	if err != nil {
		return policy.Decision{}, err
	}
	return policy.Expecting(s, m.about(hours), m.FromHours), nil
}

// about returns a wait in hours with the model's band about it.
func (m *Model) about(hours float64) uncertainty.Prediction {
	if m.Band == nil {
		return uncertainty.Point(hours)
	}
	p := m.Band.Predict(hours)
	p.Low = max(p.Low, 0)
	return p
}

// Save writes the model as JSON.
func (m *Model) Save(path string) error {
	fitted, err := m.scorer.Save()
	if err != nil {
		return err
	}
	return file.Write(path, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(modelFile{*m, featureNames(), fitted})
	})
}

// Load reads a model that Save wrote. The error wraps ErrFile.
func Load(path string) (*Model, error) {
	b, err := file.ReadAll(path)
	if err != nil {
		return nil, err
	}
	var f modelFile
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrFile, err)
	}
	l, err := Learners().Find(f.Kind)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: kind %w", path, ErrFile, err)
	}
	if f.Origin == nil {
		return nil, fmt.Errorf("%s: %w: trained_on is missing", path, ErrFile)
	}
	names := featureNames()
	if !slices.Equal(f.Features, names) {
		return nil, fmt.Errorf("%s: %w: %d features, this version has %d others", path, ErrFile, len(f.Features), len(names))
	}
	if f.scorer, err = l.Load(f.Fitted); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrFile, err)
	}
	if _, err := f.scorer.Hours(make([]float64, len(names))); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrFile, err)
	}
	return &f.Model, nil
}

// Origin describes the training data of a model.
type Origin struct {
	// From and To are the beginning of the first predecessor and the start of the
	// last successor that the model has seen, Unix seconds.
	From    int64         `json:"from"`
	To      int64         `json:"to"`
	Service chain.Service `json:"service"` // of the first set
}

// originOf returns the origin of sets, as far as they were used.
func originOf(sets []*samples.Set, until int64) *Origin {
	var o Origin
	for i, set := range sets {
		m := set.Manifest
		if i == 0 {
			o.From, o.Service = m.Plan.Submit(0), m.Plan.Service
		}
		o.From = min(o.From, m.Plan.Submit(0))
		for _, s := range set.Samples {
			if until == 0 || s.SuccStart < until {
				o.To = max(o.To, s.SuccStart)
			}
		}
	}
	return &o
}

// Saw says whether the model has seen something of a span, in Unix seconds.
func (o *Origin) Saw(from, to int64) bool { return from < o.To && to > o.From }
