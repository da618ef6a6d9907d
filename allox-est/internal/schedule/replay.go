package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrCluster is returned for a cluster without nodes, or with too many.
var ErrCluster = errors.New("invalid cluster")

// mostNodes of a device can be scheduled in reasonable memory.
const mostNodes = 1_000_000

// Cluster is the number of nodes by device. A node runs one job at a time, whatever the
// job asks for.
type Cluster [Devices]int

// Run is the result of one job.
type Run struct {
	Record
	Parts []Part // one, unless the job was preempted
}

// Part is a stay of a job on a node, which is numbered within its device.
type Part struct {
	Job     int     `dataset:"job"`
	User    string  `dataset:"user"`
	Arrival float64 `dataset:"arrival_seconds"`
	Device  string  `dataset:"device"`
	Node    int     `dataset:"node"`
	Start   float64 `dataset:"start_seconds"`
	End     float64 `dataset:"end_seconds"`
}

// End returns when the job was done.
func (r Run) End() float64 { return r.Parts[len(r.Parts)-1].End }

// Replay runs jobs, as Load returns them, on a cluster under a policy until all
// are done, and returns the runs in that order. Every job takes its true time.
func Replay(ctx context.Context, jobs []Record, c Cluster, p Policy) ([]Run, error) {
	r := replay{policy: p}
	if err := r.begin(jobs, c); err != nil {
		return nil, err
	}
	for r.next() {
		r.decide(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if r.done < len(jobs) {
		return nil, fmt.Errorf("%d of %d jobs done: the policy starts no job on an idle cluster", r.done, len(jobs))
	}
	return r.runs, nil
}

// replay is a replay under way.
type replay struct {
	state  State
	policy Policy
	done   int
	jobs   []*Job
	runs   []Run
	came   int // jobs that have arrived
}

// begin makes the nodes and the replay's view of the jobs.
func (r *replay) begin(jobs []Record, c Cluster) error {
	for d, n := range c {
		if n < 0 || n > mostNodes {
			return fmt.Errorf("%w: %d %s nodes, want 0 to %d of each kind", ErrCluster, n, Device(d), mostNodes)
		}
		for i := range n {
			r.state.Nodes = append(r.state.Nodes, &Node{Device: Device(d), Index: i})
		}
	}
	switch {
	case len(r.state.Nodes) == 0:
		return fmt.Errorf("%w: no nodes", ErrCluster)
	case len(jobs) == 0:
		return errors.New("no jobs")
	}
	for i, from := range jobs {
		j := &Job{Reported: from.Reported, Left: 1, index: i, actual: from.Actual}
		for d, n := range c {
			if n == 0 {
				j.Reported[d] = math.Inf(1)
			}
		}
		if math.IsInf(min(j.Reported[CPU], j.Reported[GPU]), 1) {
			return fmt.Errorf("job %d: fits on no node", from.ID)
		}
		r.jobs, r.runs = append(r.jobs, j), append(r.runs, Run{Record: from})
	}
	return nil
}

// next advances to the next time at which jobs end or arrive.
func (r *replay) next() bool {
	s := &r.state
	now, running := math.Inf(1), s.running()
	if r.came < len(r.jobs) {
		now = r.runs[r.came].Arrival
	}
	for _, j := range running {
		now = min(now, j.end)
	}
	s.Now = now
	slices.SortFunc(running, func(a, b *Job) int { return cmp.Compare(a.index, b.index) })
	for _, j := range running {
		if j.end == now {
			r.endPart(j)
			r.done++
		}
	}
	for ; r.came < len(r.jobs) && r.runs[r.came].Arrival == now; r.came++ {
		s.Waiting = append(s.Waiting, r.jobs[r.came])
	}
	return !math.IsInf(now, 1)
}

// decide lets the policy stop and start jobs.
func (r *replay) decide(ctx context.Context) {
	s := &r.state
	if p, ok := r.policy.(Preempter); ok {
		for _, j := range p.Stop(s) {
			j.Left = max(j.Left-(s.Now-j.Started)/j.actual[j.Node.Device], 0)
			r.endPart(j)
			s.Waiting = append(s.Waiting, j)
		}
	}
	for len(s.Waiting) > 0 {
		j, n := r.policy.Next(ctx, s)
		if j == nil || ctx.Err() != nil {
			return
		}
		at := slices.Index(s.Waiting, j)
		s.Waiting = slices.Delete(s.Waiting, at, at+1)
		j.Node = n
		j.Started = s.Now
		n.Running = j
		j.end = s.Now + j.Left*j.actual[n.Device]
	}
}

// endPart records the job's stay on its node until now, and takes it off.
func (r *replay) endPart(j *Job) {
	run := &r.runs[j.index]
	run.Parts = append(run.Parts, Part{run.ID, run.User, run.Arrival, j.Node.Device.String(), j.Node.Index, j.Started, r.state.Now})
	j.Node.Running, j.Node = nil, nil
}
