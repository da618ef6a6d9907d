package schedule

import (
	"container/heap"
	"context"
	"fmt"
	"math"
)

// Schedule is the outcome of a replay.
type Schedule struct {
	Policy  string
	Cluster Cluster
	Runs    []Run // by job, in the order of the workload
}

// Run is the result of one job.
type Run struct {
	Job   *Record
	Parts []Part // one, unless the job was preempted
}

// Part is a stay of a job on a node.
type Part struct {
	Device     Device
	Node       int // within the device
	Start, End float64
}

// End returns when the job was done.
func (r Run) End() float64 { return r.Parts[len(r.Parts)-1].End }

// JCT returns the job completion time: from arrival to end.
func (r Run) JCT() float64 { return r.End() - r.Job.Arrival }

// Replay runs jobs, in order of arrival, on a cluster under a policy until all
// are done. Every job takes its true time. progress, unless nil, is called with how
// many jobs are done.
//
// It returns an error that wraps ErrNoJobs, ErrCluster, ErrTooLarge, an error
// of Record.Check, or the context's.
func Replay(ctx context.Context, jobs []Record, c Cluster, p Policy, progress func(done int)) (*Schedule, error) {
	r, err := newReplay(jobs, c, p)
	if err != nil {
		return nil, err
	}
	for r.next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.decide()
		if progress != nil {
			progress(r.done)
		}
	}
	if r.done < len(jobs) {
		return nil, fmt.Errorf("%s: %d of %d jobs done: %w", p.Name(), r.done, len(jobs), ErrStuck)
	}
	return r.schedule, nil
}

// replay is a replay under way.
type replay struct {
	state    State
	policy   Policy
	coming   []*Job // not yet arrived
	ends     first[end]
	done     int
	schedule *Schedule
}

func newReplay(jobs []Record, c Cluster, p Policy) (*replay, error) {
	if len(jobs) == 0 {
		return nil, ErrNoJobs
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	r := &replay{
		policy:   p,
		state:    State{Cluster: c, devices: c.devices()},
		schedule: &Schedule{Policy: p.Name(), Cluster: c, Runs: make([]Run, len(jobs))},
	}
	for _, d := range r.state.devices {
		for i := range c.Nodes(d) {
			r.state.Nodes = append(r.state.Nodes, &Node{Device: d, Index: i})
		}
	}
	users := make(map[string]*User)
	for i := range jobs {
		j, err := r.admit(&jobs[i], i, users)
		if err != nil {
			return nil, err
		}
		r.schedule.Runs[i].Job = &jobs[i]
		r.coming = append(r.coming, j)
	}
	return r, nil
}

// admit makes the replay's view of a job.
func (r *replay) admit(from *Record, i int, users map[string]*User) (*Job, error) {
	if err := from.Check(); err != nil {
		return nil, err
	}
	if i > 0 && from.Arrival < r.coming[i-1].Arrival {
		return nil, fmt.Errorf("job %d: %w: earlier than that of the previous job", from.ID, ErrArrival)
	}
	u := users[from.User]
	if u == nil {
		u = &User{Name: from.User}
		users[from.User] = u
		r.state.Users = append(r.state.Users, u)
	}
	j := &Job{ID: from.ID, User: u, Arrival: from.Arrival, Left: 1, index: i}
	fits := false
	for d := range Device(Devices) {
		j.Reported[d], j.actual[d] = math.Inf(1), math.Inf(1)
		if r.state.Cluster.runs(from, d) {
			fits = true
			j.Reported[d], j.actual[d] = from.Reported(d), from.Seconds(d)
		}
	}
	if !fits {
		return nil, fmt.Errorf("job %d: %w", from.ID, ErrTooLarge)
	}
	return j, nil
}

// next advances to the next time at which jobs end or arrive.
func (r *replay) next() bool {
	for len(r.ends) > 0 && r.ends[0].stale() {
		heap.Pop(&r.ends)
	}
	s := &r.state
	now := math.Inf(1)
	if len(r.ends) > 0 {
		now = r.ends[0].at
	}
	if len(r.coming) > 0 {
		now = min(now, r.coming[0].Arrival)
	}
	if math.IsInf(now, 1) {
		return false
	}
	s.Now = now
	for len(r.ends) > 0 && r.ends[0].at == now {
		if e := heap.Pop(&r.ends).(end); !e.stale() {
			r.part(e.job)
			s.leave(e.job)
			r.done++
		}
	}
	for len(r.coming) > 0 && r.coming[0].Arrival == now {
		s.arrive(r.coming[0])
		r.coming = r.coming[1:]
	}
	return true
}

// decide lets the policy stop and start jobs.
func (r *replay) decide() {
	s := &r.state
	if p, ok := r.policy.(Preempter); ok {
		for _, j := range p.Stop(s) {
			r.part(j)
			s.stop(j)
		}
	}
	for len(s.Waiting) > 0 {
		j, n, ok := r.policy.Next(s)
		if !ok {
			return
		}
		s.start(j, n)
		heap.Push(&r.ends, end{j.end, j})
	}
}

// part records the job's stay on its node until now.
func (r *replay) part(j *Job) {
	run := &r.schedule.Runs[j.index]
	run.Parts = append(run.Parts, Part{j.Node.Device, j.Node.Index, j.Started, r.state.Now})
}

// end is a job that ends if nothing stops it.
type end struct {
	at  float64
	job *Job
}

// stale says that the job was stopped meanwhile.
func (e end) stale() bool { return e.job.Node == nil || e.job.end != e.at }

// Before says that it ends earlier, or of equal ends that its job came first.
func (e end) Before(f end) bool {
	return e.at < f.at || e.at == f.at && e.job.index < f.job.index
}

// first is a heap: what is before all others stands first.
type first[T interface{ Before(T) bool }] []T

func (f first[T]) Len() int           { return len(f) }
func (f first[T]) Less(i, j int) bool { return f[i].Before(f[j]) }
func (f first[T]) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *first[T]) Push(x any)        { *f = append(*f, x.(T)) }
func (f *first[T]) Pop() any {
	n := len(*f) - 1
	last := (*f)[n]
	*f = (*f)[:n]
	return last
}
