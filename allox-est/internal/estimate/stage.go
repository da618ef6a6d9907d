package estimate

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/foretime/foretime/allox-est/internal/progress"
)

// ErrStages is returned for stages that do not follow each other, or that no
// sample has met.
var ErrStages = errors.New("stages")

// Stage is a part of a job whose units take a time of their own: those after From,
// up to To.
type Stage struct {
	Name     string
	From, To float64
}

// ParseStages reads stages as "0-600 600-1200 1200-1800". A stage's name is its
// text.
func ParseStages(text string) ([]Stage, error) {
	var stages []Stage
	at := 0.0
	for _, field := range strings.Fields(text) {
		a, b, ok := strings.Cut(field, "-")
		from, err := strconv.ParseFloat(a, 64)
		to, err2 := strconv.ParseFloat(b, 64)
		if !ok || err != nil || err2 != nil || from != at || to <= from {
			return nil, fmt.Errorf("%w: %q: want FROM-TO from %v on, as 0-600 600-1200", ErrStages, field, at)
		}
		stages, at = append(stages, Stage{field, from, to}), to
	}
	return stages, nil
}

// stage returns the stage of the lap between two marks, from the job's report or its number; a
// job without stages has one.
func (j Job) stage(from, to progress.Mark) string {
	if len(j.Stages) == 0 {
		return ""
	}
	if from.Stage != "" {
		return from.Stage
	}
	for _, s := range j.Stages {
		if middle := (from.Number + to.Number) / 2; middle > s.From && middle <= s.To {
			return s.Name
		}
	}
	return ""
}

// check says what is wrong with a job's stages: they must follow each other to its
// end, and each must be met.
func (j Job) checkStages(ts []trace) error {
	at := 0.0
	for _, s := range j.Stages {
		if s.From != at || s.To <= s.From {
			return fmt.Errorf("%w: %s: from %v to %v, want from %v on", ErrStages, s.Name, s.From, s.To, at)
		}
		at = s.To
		met := false
		for l := range allLaps(ts) {
			met = met || l.stage == s.Name
		}
		if !met {
			return fmt.Errorf("%w: no sample covers %s", ErrStages, s.Name)
		}
	}
	if at > 0 && at < float64(j.Epochs) {
		return fmt.Errorf("%w: the last one ends at %v of %d", ErrStages, at, j.Epochs)
	}
	return nil
}
