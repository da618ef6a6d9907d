package calibrate

import (
	"cmp"
	"slices"

	"github.com/foretime/foretime/mirage/cluster"
	"github.com/foretime/foretime/mirage/trace"
)

const (
	// outageBlock is the span, in seconds, that is looked at as one.
	outageBlock = 6 * 3600
	// outageUsers is how many users must wait for idle nodes. One user's jobs
	// may be held or depend on each other; those of five are not.
	outageUsers = 5
)

// Outages infers from a log, up to an instant, when a machine of so many nodes
// had evidently fewer. In each block of six hours in which less than three
// quarters of the nodes were ever in use, the idle ones count as down if at
// least five users had a job waiting from the block's begin to its end that
// would have fitted into them. Jobs are in the order of submission.
func Outages(jobs []trace.Job, nodes int, to int64) []cluster.Window {
	first := int64(0)
	uses := make([]use, 0, 2*len(jobs))
	for i := range jobs {
		j := &jobs[i]
		if i == 0 || j.Start < first {
			first = j.Start
		}
		uses = append(uses, use{j.Start, j.Nodes}, use{j.End, -j.Nodes})
	}
	slices.SortFunc(uses, func(a, b use) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta)) })
	var down []cluster.Window
	inUse, next := 0, 0
	for from := first; from+outageBlock <= to && next < len(uses); from += outageBlock {
		end := from + outageBlock
		for ; next < len(uses) && uses[next].at <= from; next++ {
			inUse += uses[next].delta
		}
		most := inUse
		for ; next < len(uses) && uses[next].at < end; next++ {
			inUse += uses[next].delta
			most = max(most, inUse)
		}
		idle := nodes - most
		if 4*idle <= nodes || waitingUsers(jobs, from, end, idle) < outageUsers {
			continue
		}
		if last := len(down) - 1; last >= 0 && down[last].To == from && down[last].Nodes == idle {
			down[last].To = end
			continue
		}
		down = append(down, cluster.Window{From: from, To: end, Nodes: idle})
	}
	return down
}

// use is a change of the number of nodes in use.
type use struct {
	at    int64
	delta int
}

// waitingUsers counts the users with a job of at most so many nodes that
// waited throughout a span.
func waitingUsers(jobs []trace.Job, from, to int64, nodes int) int {
	users := map[string]bool{}
	for i := range jobs {
		j := &jobs[i]
		if j.Submit > from {
			break
		}
		if j.Start >= to && j.Nodes <= nodes {
			users[j.User] = true
		}
	}
	return len(users)
}
