package simulator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// ErrStanding is returned when a queue cannot be what is seen.
var ErrStanding = errors.New("invalid snapshot of the queue")

// Standing is a queue as it is seen from outside at an instant. How long its
// jobs will run is not known, only their limits; Duration is not looked at.
type Standing struct {
	Now     int64       // Unix seconds
	Running []trace.Job // Start is known, and not after Now
	Pending []trace.Job // in any order; what can never start here is left out
	// Own are running jobs whose whole limit will be used.
	Own []trace.Job
	// Ended are jobs that ended before, from which [Simulator.Lengths] learns.
	Ended []trace.Job
	// Repeats says that the jobs are all that were submitted by Now, so a Future may
	// repeat their arrivals.
	Repeats bool
}

// Resume returns a simulation of nothing but what stands, at that instant,
// ready for a [Simulator.WaitIn]. Where more nodes are in use than the
// machine has, it has as many as are in use: the settings describe a machine
// that is larger by now. Where nodes are of kinds they remain as they are, and
// running jobs are on the nodes that their need names, or on some that have
// room. The error wraps ErrStanding, ErrWorkload, cluster.ErrMachine or
// cluster.ErrRules.
func (c Config) Resume(st Standing) (*Simulator, error) {
	used := 0
	for _, jobs := range [][]trace.Job{st.Running, st.Own} {
		for i := range jobs {
			j := &jobs[i]
			if j.Nodes < 1 || j.Start > st.Now || j.Submit > j.Start || j.Limit < 1 {
				return nil, fmt.Errorf("%w: job %s runs on %d nodes, submitted at %d, started at %d, limit %d s, at time %d", ErrStanding, j.ID, j.Nodes, j.Submit, j.Start, j.Limit, st.Now)
			}
			used += j.Nodes
		}
	}
	if len(c.Kinds) == 0 {
		c.Nodes = max(c.Nodes, used)
	}
	jobs := slices.Clone(st.Running)
	for i := range jobs {
		jobs[i].End, jobs[i].After = jobs[i].Start+jobs[i].Limit, ""
	}
	running := len(jobs)
	for _, j := range st.Pending {
		if j.Submit > st.Now {
			return nil, fmt.Errorf("%w: job %s is pending since %d, after the time %d of the snapshot", ErrStanding, j.ID, j.Submit, st.Now)
		}
		j.Start, j.End = j.Submit, j.Submit+j.Limit
		jobs = append(jobs, j)
	}
	standing := len(jobs)
	jobs = append(jobs, st.Ended...)
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	for i := range st.Ended {
		jobs[standing+i].ID, jobs[standing+i].After = "", ""
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[a].Submit, jobs[b].Submit) })
	sorted := make([]trace.Job, len(jobs))
	for at, i := range order {
		sorted[at] = jobs[i]
	}
	w, err := NewWorkload(sorted, c)
	if err != nil {
		return nil, err
	}
	s := w.NewFrom(st.Now)
	s.next, s.first = len(w.jobs), len(w.jobs)
	s.repeats = st.Repeats
	for at, i := range order {
		switch j := &w.jobs[at]; {
		case i < running:
			s.resume(int32(at), j, &sorted[at])
		case i >= standing:
			s.ended = append(s.ended, past{int32(at), sorted[at].Start})
		case j.rejected || j.after >= 0: // the end of the other job makes it eligible
		case sorted[at].Eligible > st.Now:
			s.held = append(s.held, hold{sorted[at].Eligible, int32(at)})
		default:
			s.enqueue(int32(at), j.submit)
		}
	}
	for _, t := range st.Own {
		t.End = t.Start + t.Limit
		j, err := w.prepare(&t, s.outsider())
		if err != nil {
			return nil, err
		}
		s.extra = append(s.extra, Extra{job: j, Started: true, Start: t.Start})
		s.resume(int32(len(w.jobs)+len(s.extra)-1), &j, &t)
	}
	slices.SortStableFunc(s.ended, func(a, b past) int { return cmp.Compare(sorted[a.job].End, sorted[b.job].End) })
	s.pass(st.Now)
	return s, nil
}

// resume takes nodes for a job that has been running since start. One that is
// past its limit ends now.
func (s *Simulator) resume(i int32, j *job, t *trace.Job) {
	until := max(t.Start+j.limit, s.now)
	a := cluster.Allocation{Job: i, Nodes: j.nodes, User: j.user, Start: t.Start, Until: until, End: until}
	var on []int32
	if t.Need != nil {
		on = t.Need.On
	}
	if j.rejected && s.w.layout != nil { // it runs, whatever the description says
		a.Nodes = int32(min(t.Nodes, s.w.Config.Nodes))
		j.nodes, j.share = a.Nodes, &cluster.Share{Whole: true}
	}
	a.Place = s.nodes.Assign(int(j.nodes), j.share, on)
	s.nodes.Take(a)
	s.running[j.user]++
	s.use(j, 1)
}
