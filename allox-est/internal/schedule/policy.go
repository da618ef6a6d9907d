package schedule

import (
	"fmt"

	"github.com/foretime/foretime/shared/registry"
)

// Policy decides which waiting job starts, and where.
type Policy interface {
	// Name returns the policy's name on the command line.
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

// Settings of policies. The zero value works.
type Settings struct {
	// Alpha is the share of the users whose jobs AlloX considers, those with
	// the least progress; 0 means 1, all users.
	Alpha float64
}

// Policies are all policies, by name. A new one is a file and a line here.
var Policies = registry.List[func(Settings) Policy]{
	{Name: "allox", Help: "matching with minimum mean completion time and fairness parameter alpha (AlloX)", New: func(s Settings) Policy { return newAlloX(s) }},
	{Name: "srpt", Help: "shortest remaining estimated time first, with preemption", New: func(Settings) Policy { return &preemptive{} }},
	{Name: "sjf", Help: "shortest estimated time first", New: func(Settings) Policy { return sjf{} }},
	{Name: "fifo", Help: "first in, first out, each job on its faster device", New: func(Settings) Policy { return fifo{} }},
}

// New returns the policy of a name. It returns ErrPolicy for an unknown name
// and ErrSetting for an alpha outside [0, 1].
func New(name string, s Settings) (Policy, error) {
	if !(s.Alpha >= 0 && s.Alpha <= 1) {
		return nil, fmt.Errorf("alpha: %w: %v, want 0 to 1", ErrSetting, s.Alpha)
	}
	newPolicy, err := Policies.Find(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	return newPolicy(s), nil
}
