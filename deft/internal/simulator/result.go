package simulator

import "time"

// Result is the outcome of an experiment. Times count from its begin; those of warm-up jobs
// are below 0.
type Result struct {
	Clients   []ClientResult
	End       time.Duration // of the last job
	Decisions int           // how often the policy was asked
}

// ClientResult is the outcome of one client, without warm-up jobs in the sums.
type ClientResult struct {
	Client
	WarmUp   bool  // Jobs[0] is a warm-up
	Jobs     []Job // in order of time
	Launches int
	Syncs    int           // synchronization points set by directives
	Stall    time.Duration // in them and at the bound of launches in flight
	Gate     time.Duration // at the closed gate
	GPU      time.Duration
	MaxQueue int // most kernels in flight
	// Unmarked are the times of an unmarked program's jobs, from a first launch, gate
	// included, to the program's own wait or the end of its list.
	Unmarked []time.Duration
}

// Job is one job of a client.
type Job struct {
	Begin, End  time.Duration
	Launches    int
	Syncs       int
	Stall, Gate time.Duration
}

// JCT returns the job's completion time.
func (j Job) JCT() time.Duration { return j.End - j.Begin }

// JobsAfterWarmUp returns the jobs without the warm-up.
func (c *ClientResult) JobsAfterWarmUp() []Job {
	if c.WarmUp {
		return c.Jobs[1:]
	}
	return c.Jobs
}
