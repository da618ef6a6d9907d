package cluster

import (
	"errors"
	"fmt"
	"math"
)

// ErrRules is returned when settings are out of range or contradict each other.
var ErrRules = errors.New("invalid scheduling rules")

// Rules are the settings of a scheduler. Use Defaults and change what differs.
type Rules struct {
	Discipline Discipline `json:"scheduler" help:"slurm, easy, conservative or fcfs"`
	// UserLimit is the number of jobs of one user that may run at once; 0 is no limit.
	UserLimit int `json:"user_limit,omitempty" help:"jobs that a user may run at once; 0 is no limit"`
	// LoggedPriority adds the priority that the log holds for a job to its own.
	LoggedPriority bool     `json:"logged_priority,omitempty" help:"add the priority in the log to the computed one"`
	Weights        Weights  `json:"weights"`
	Backfill       Backfill `json:"backfill"`
	// QueueDepth is the number of jobs that the priority pass considers; 0 is all.
	QueueDepth int `json:"default_queue_depth,omitempty" help:"jobs that the priority pass considers; 0 is all"`
}

// Weights are the weights of a job's multifactor priority: the sum of each
// weight times its factor.
type Weights struct {
	// Age times min(1, time since eligible / MaxAgeDays).
	Age        float64 `json:"age" help:"priority points for the largest age"`
	MaxAgeDays float64 `json:"max_age_days" help:"age in days from which it no longer grows"`
	// Size times nodes / nodes of the machine.
	Size float64 `json:"size" help:"priority points of a job as large as the cluster"`
	// Logged times the priority in the log, if LoggedPriority is on.
	Logged float64 `json:"logged" help:"factor on the logged priority"`
}

// Backfill are the settings of Slurm's backfill pass.
type Backfill struct {
	IntervalSeconds   int64 `json:"bf_interval" help:"seconds between backfill passes"`
	WindowMinutes     int64 `json:"bf_window" help:"minutes that a backfill pass plans ahead"`
	ResolutionSeconds int64 `json:"bf_resolution" help:"seconds per slot of the backfill plan; 0 is exact"` // 0 plans to the second
	MaxJobTest        int   `json:"bf_max_job_test" help:"jobs that a backfill pass considers"`
}

// Defaults returns the settings of a discipline: those that its own Defaults
// sets, and a week to the greatest age.
func Defaults(d Discipline) Rules {
	r := Rules{Discipline: d}
	r.Weights.Logged = 1
	r.Weights.MaxAgeDays = 7
	if s, err := Disciplines().Find(string(d)); err == nil && s.Defaults != nil {
		s.Defaults(&r)
	}
	return r
}

// Plan checks the rules and makes them ready to run. The error wraps ErrRules.
func (r Rules) Plan() (*Plan, error) {
	w, b := r.Weights, r.Backfill
	s, err := Disciplines().Find(string(r.Discipline))
	if err != nil {
		return nil, fmt.Errorf("%w: scheduler %w", ErrRules, err)
	}
	for _, x := range []float64{w.Age, w.MaxAgeDays, w.Size, w.Logged} {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return nil, fmt.Errorf("%w: weight %v, want a number from 0", ErrRules, x)
		}
	}
	switch {
	case r.UserLimit < 0 || r.QueueDepth < 0 || b.MaxJobTest < 0:
		return nil, fmt.Errorf("%w: user_limit, default_queue_depth or bf_max_job_test is negative", ErrRules)
	case b.IntervalSeconds < 0 || b.WindowMinutes < 0 || b.ResolutionSeconds < 0:
		return nil, fmt.Errorf("%w: bf_interval, bf_window or bf_resolution is negative", ErrRules)
	case w.Age > 0 && w.MaxAgeDays == 0:
		return nil, fmt.Errorf("%w: weights.age needs weights.max_age_days", ErrRules)
	case s.InOrder && (r.LoggedPriority || w.Age > 0 || w.Size > 0):
		return nil, fmt.Errorf("%w: %s has no priorities", ErrRules, r.Discipline)
	}
	return &Plan{Rules: r, scheduler: s}, nil
}

// Static returns the part of a job's priority that does not change with time: of a job
// that takes a share of the machine's nodes.
func (r *Rules) Static(share, logged float64) float64 {
	p := r.Weights.Size * share
	if r.LoggedPriority {
		p += r.Weights.Logged * logged
	}
	return p
}
