package provision

import (
	"cmp"
	"fmt"
	"time"

	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Settings say what a provisioner keeps alive and how.
type Settings struct {
	Client  *slurmview.Client
	Clock   Clock // nil is Wall
	Policy  policy.Policy
	Request Request // Comment is set by the provisioner, Name extended
	// Service is the run time of a service job; 0 is Request.Limit.
	Service time.Duration
	// Partition, where it is not empty, is the one whose queue and nodes the
	// policy sees.
	Partition string
	// Links ends the chain after so many services; 0 goes on for ever.
	Links int
	// Interval is the time between two decisions; 0 is ten minutes.
	Interval time.Duration
	// Poll is the time between two looks at the queue; 0 is a fifth of
	// Interval.
	Poll time.Duration
	// RequestTimeout is the time after the end of its sbatch in which a request may still reach
	// the controller; 0 is twice the controller's MessageTimeout.
	RequestTimeout time.Duration
	// Predecessor is a job that runs already and is the first of the chain;
	// 0 submits the first.
	Predecessor int64
	// Release cancels a predecessor when its successor runs.
	Release bool
	// NoOverlap submits each successor when its predecessor starts, to wait for its end
	// (sbatch --dependency): two jobs of the chain never run at once, and no policy is asked.
	NoOverlap bool
	// KeepPlace submits each successor when its predecessor starts, to begin at that one's end
	// or when the policy says, if a job of this Slurm keeps its place in the queue meanwhile.
	KeepPlace bool
	// Resolve answers ErrUnsure: the job that was submitted, or -1 for none.
	Resolve int64
	// Leave submits a successor that waits for its predecessor's end where the run
	// is stopped while a service runs that has none.
	Leave bool
	// DryRun decides and submits nothing.
	DryRun bool
	// Forecasts says that the policy asks for a forecast of the queue.
	Forecasts bool
	// Predict, where it is not nil, is given the reward in hours that is expected of a
	// successor when it is submitted, by the token of its link, and returns it as
	// earlier ones correct it; Outcome is given what it came to.
	Predict func(token string, expected uncertainty.Prediction) uncertainty.Prediction
	Outcome func(token string, hours float64)
	// Warn takes what went wrong and did not end the run; it may be nil.
	Warn func(error)
	// Tell receives every entry of the journal once it is on the disk; it may be nil.
	Tell func(Entry)
}

func (s *Settings) complete() error {
	if s.Clock == nil {
		s.Clock = Wall{}
	}
	s.Interval = cmp.Or(s.Interval, 10*time.Minute)
	s.KeepPlace = s.KeepPlace && !s.Request.chose("--begin", "-b")
	s.Poll, s.Service = cmp.Or(s.Poll, s.Interval/5), cmp.Or(s.Service, s.Request.Limit)
	if s.Warn == nil {
		s.Warn = func(error) {}
	}
	if s.Tell == nil {
		s.Tell = func(Entry) {}
	}
	switch {
	case s.Client == nil || s.Policy == nil:
		return fmt.Errorf("%w: no client or no policy", ErrSettings)
	case s.Request.Nodes < 1 || s.Request.Limit <= 0:
		return fmt.Errorf("%w: service: %d nodes, limit %v", ErrSettings, s.Request.Nodes, s.Request.Limit)
	case s.Request.Notice < 0 || s.Request.Notice >= s.Request.Limit:
		return fmt.Errorf("%w: service.notice: %v, want less than the limit %v", ErrSettings, s.Request.Notice, s.Request.Limit)
	case s.Service <= 0 || s.Service > s.Request.Limit:
		return fmt.Errorf("%w: service.time: %v, the limit is %v", ErrSettings, s.Service, s.Request.Limit)
	case s.Interval <= 0 || s.Poll <= 0 || s.RequestTimeout < 0 || s.Links < 0:
		return fmt.Errorf("%w: interval %v, poll %v, request timeout %v, %d services", ErrSettings, s.Interval, s.Poll, s.RequestTimeout, s.Links)
	case s.Request.Script == "" && !s.DryRun:
		return fmt.Errorf("%w: no script", ErrSettings)
	case s.NoOverlap && s.Release:
		return fmt.Errorf("%w: --release cancels a job while its successor runs, and with --no-overlap there is no such time", ErrSettings)
	case s.NoOverlap && s.Request.chose("--dependency", "-d"):
		return fmt.Errorf("%w: --no-overlap sets --dependency, and so do the options of sbatch", ErrSettings)
	case s.DryRun && s.Predecessor == 0:
		return fmt.Errorf("%w: --dry-run needs --predecessor", ErrSettings)
	}
	return nil
}
