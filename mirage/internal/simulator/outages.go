package simulator

import (
	"cmp"
	"slices"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

const (
	// outageBlock is the span, in seconds, that is looked at as one.
	outageBlock = 6 * 3600
	// outageUsers is the number of users that must wait for idle nodes. One user's jobs may be
	// held or depend on each other; those of five are not.
	outageUsers = 5
)

// Outages infers from a log, up to an instant, when a machine of so many nodes
// had evidently fewer. In each block of six hours in which less than three
// quarters of the nodes were ever in use, the idle ones count as down if at
// least five users had a job waiting from the block's begin to its end that
// would have fitted into them. Jobs are in the order of submission.
func Outages(jobs []trace.Job, nodes int, to int64) []cluster.Window {
	var down []cluster.Window
	for _, b := range blocks(jobs, to) {
		idle := nodes - b.most
		if 4*idle <= nodes || b.users(idle) < outageUsers {
			continue
		}
		if last := len(down) - 1; last >= 0 && down[last].To == b.from && down[last].Nodes == idle {
			down[last].To = b.from + outageBlock
			continue
		}
		down = append(down, cluster.Window{From: b.from, To: b.from + outageBlock, Nodes: idle})
	}
	return down
}

// block is a span of the log: the most nodes ever in use in it, and the jobs
// that waited throughout.
type block struct {
	from    int64
	most    int
	waiting []*trace.Job
}

// users counts the users with a job of at most so many nodes waiting.
func (b *block) users(nodes int) int {
	users := map[string]bool{}
	for _, j := range b.waiting {
		if j.Nodes <= nodes {
			users[j.User] = true
		}
	}
	return len(users)
}

// blocks cuts a log into whole blocks, from the first start on.
func blocks(jobs []trace.Job, to int64) []block {
	if len(jobs) == 0 {
		return nil
	}
	first := slices.MinFunc(jobs, func(a, b trace.Job) int { return cmp.Compare(a.Start, b.Start) }).Start
	out := make([]block, max(0, to-first)/outageBlock)
	for i := range out {
		out[i].from = first + int64(i)*outageBlock
	}
	for i := range jobs {
		j := &jobs[i]
		since := max(0, j.Submit-first+outageBlock-1) / outageBlock
		for b := since; b < min((j.Start-first)/outageBlock, int64(len(out))); b++ {
			out[b].waiting = append(out[b].waiting, j)
		}
	}
	uses, inUse, next := trace.Uses(jobs, trace.NodesOf), 0, 0
	for i := range out {
		b := &out[i]
		for ; next < len(uses) && uses[next].At <= b.from; next++ {
			inUse += uses[next].By
		}
		b.most = inUse
		for ; next < len(uses) && uses[next].At < b.from+outageBlock; next++ {
			inUse += uses[next].By
			b.most = max(b.most, inUse)
		}
	}
	return out
}
