package estimate

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/foretime/foretime/allox-est/internal/progress"
)

// ErrStages is returned for stages that do not follow each other, or that no
// sample has met.
var ErrStages = errors.New("stages")

// Job describes the job to be estimated.
type Job struct {
	Epochs int
	// Unit is the name of what Epochs counts, in the singular; "epoch" if empty.
	Unit string
	// Device is "cpu" or "gpu": only on a CPU does processor time show the cause of a slow
	// epoch.
	Device string
	// Stages follow each other where the work changes on the way; nil where it does not.
	Stages []Stage
}

func (j Job) unit() string { return cmp.Or(j.Unit, "epoch") }

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
