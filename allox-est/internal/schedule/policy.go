package schedule

import (
	"context"

	"github.com/foretime/foretime/shared/registry"
)

// Policy decides which waiting job starts, and where.
type Policy interface {
	// Next returns one of the waiting jobs and a node that it fits, or nil when nothing is
	// to start now. It is asked again after every start, arrival and end of a job. Its answer
	// is not used once the context is done.
	Next(ctx context.Context, s *State) (job *Job, on *Node)
}

// Preempter is a Policy that may stop running jobs, whose work so far is kept.
type Preempter interface {
	Policy
	// Stop returns the running jobs that are to wait. It is asked before Next.
	Stop(s *State) []*Job
}

// Policies are all policies, by name. A new one is a file and a line here.
var Policies = registry.List[func() Policy]{
	{Name: "allox", Help: "matching with minimum mean completion time (AlloX)", New: func() Policy { return &allox{} }},
	{Name: "srpt", Help: "shortest remaining estimated time first, with preemption", New: func() Policy { return &preemptive{} }},
	{Name: "sjf", Help: "shortest estimated time first", New: func() Policy { return sjf{} }},
	{Name: "fifo", Help: "first in, first out, each job on its faster device", New: func() Policy { return fifo{} }},
}
