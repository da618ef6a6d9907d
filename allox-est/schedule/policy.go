package schedule

import (
	"fmt"
	"strings"
)

// Policy decides which waiting job starts, and where.
type Policy interface {
	// Name is what the command line calls the policy.
	Name() string
	// Next returns a waiting job and a node that it fits, or false when
	// nothing is to start now. It is asked again after every start, and after
	// every arrival and end of a job.
	Next(s *State) (job *Job, on *Node, ok bool)
}

// Preempter is a Policy that may stop running jobs, whose work so far is
// kept.
type Preempter interface {
	Policy
	// Stop returns the running jobs that are to wait. It is asked once after
	// arrivals and ends, before Next.
	Stop(s *State) []*Job
}

// Settings are what policies may be told. The zero value works.
type Settings struct {
	// Alpha is the share of the users whose jobs AlloX considers, those with
	// the least progress; 0 means 1, all users.
	Alpha float64
	// MaxJobs bounds the jobs that AlloX matches at a time; 0 means all.
	MaxJobs int
}

// Names returns the names of all policies.
func Names() []string {
	return []string{"allox", "srpt", "sjf", "fifo", "drf-fifo", "drf-sjf", "es", "drfe"}
}

// New returns the policy of a name. It returns ErrPolicy for an unknown name
// and ErrSetting for an alpha outside [0, 1] or a negative number of jobs.
func New(name string, s Settings) (Policy, error) {
	if !(s.Alpha >= 0 && s.Alpha <= 1) {
		return nil, fmt.Errorf("alpha %v: %w (0 to 1)", s.Alpha, ErrSetting)
	}
	if s.MaxJobs < 0 {
		return nil, fmt.Errorf("max jobs %d: %w (0 or more)", s.MaxJobs, ErrSetting)
	}
	switch name {
	case "allox":
		return newAlloX(s), nil
	case "srpt":
		return &srpt{}, nil
	case "sjf":
		return sjf{}, nil
	case "fifo":
		return fifo{}, nil
	case "drf-fifo":
		return drf{name: name}, nil
	case "drf-sjf":
		return drf{name: name, shortest: true}, nil
	case "es":
		return equalShare{}, nil
	case "drfe":
		return drfe{}, nil
	}
	return nil, fmt.Errorf("%q: %w (one of %s)", name, ErrPolicy, strings.Join(Names(), ", "))
}
