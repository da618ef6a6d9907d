package estimate

import (
	"cmp"
	"errors"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
)

// ErrStages is returned for stages that no sample has met.
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
	Stages jobspec.Stages
}

func (j Job) unit() string { return cmp.Or(j.Unit, "epoch") }

// stage returns the stage of a number of units; a job without stages has one.
func (j Job) stage(number float64) string {
	for _, s := range j.Stages {
		if number > s.From && number <= s.To {
			return s.Name
		}
	}
	return ""
}
