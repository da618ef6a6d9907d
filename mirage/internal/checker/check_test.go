package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// Check recomputes invariants 1 to 9 and 11 of one schedule.
func Check(t Table, outcomes []Outcome) Report {
	r := &Report{}
	t.room = newRoom(t.Machine)
	ran, ok := join(r, t, outcomes)
	if !ok { // without a sound table nothing else can be said
		return *r
	}
	if t.room != nil {
		t.room.placed(r, t, ran)
	} else {
		capacity(r, t, ran)
	}
	userLimit(r, t, ran)
	fcfs(r, t, ran)
	identical(r, t, ran)
	roomForAll(r, t, ran)
	conservative(r, t, ran)
	heads(r, t, ran)
	return *r
}

// run is a job that was started, joined with its outcome.
type run struct {
	*trace.Job
	index      int
	start, end int64
	eligible   int64
	follows    bool // another job
	on         []int
}

// until is when the job's limit runs out.
func (j *run) until() int64 { return j.start + j.Limit }

// join checks invariant 2 and returns the started jobs in the order of the
// table.
func join(r *Report, t Table, outcomes []Outcome) ([]*run, bool) {
	r.checked(2)
	before := r.Total
	byID := make(map[string]*Outcome, len(outcomes))
	for i := range outcomes {
		o := &outcomes[i]
		if byID[o.ID] != nil {
			r.breach(2, o.ID, o.Submit, "appears twice in the output")
		}
		byID[o.ID] = o
	}
	var ran []*run
	ends := map[string]int64{}
	for i := range t.Jobs {
		j := &t.Jobs[i]
		o := byID[j.ID]
		if o == nil {
			r.breach(2, j.ID, j.Submit, "missing from the output")
			continue
		}
		delete(byID, j.ID)
		if o.User != j.User || o.Nodes != j.Nodes || o.Submit != j.Submit || o.LimitSeconds != j.Limit || o.DurationSeconds != j.Duration() || o.ActualStart != j.Start {
			r.breach(2, j.ID, j.Submit, "the output's input columns differ from the input")
		}
		fits := t.accepts(j)
		if fits != (o.Status == "started") || !fits != (o.Status == "rejected") || fits != (o.Start != nil) || fits != (o.End != nil) {
			r.breach(2, j.ID, j.Submit, "status %q with %d of %d nodes", o.Status, j.Nodes, t.Machine.Nodes)
			continue
		}
		if !fits {
			continue
		}
		run := &run{Job: j, index: i, start: *o.Start, end: *o.End, eligible: j.Submit}
		if end, ok := ends[j.After]; ok && j.After != "" {
			run.eligible, run.follows = max(j.Submit, end), true
		}
		if run.start < run.eligible {
			r.breach(2, j.ID, run.start, "starts %d s before it may", run.eligible-run.start)
		}
		if want := run.start + min(j.Duration(), j.Limit); run.end != want {
			r.breach(2, j.ID, run.start, "ends at %d, want %d", run.end, want)
		}
		if t.room != nil {
			run.on = t.room.place(o.On)
		}
		ends[j.ID] = run.end
		ran = append(ran, run)
	}
	for id, o := range byID {
		r.breach(2, id, o.Submit, "is not in the input")
	}
	return ran, r.Total == before
}

// edge is a change of a count; at one instant releases come first.
type edge struct {
	at    int64
	delta int
	job   *run
}

func sweep(edges []edge, f func(e edge)) {
	slices.SortStableFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(sign(a.delta), sign(b.delta)))
	})
	for _, e := range edges {
		f(e)
	}
}

func sign(n int) int { return cmp.Compare(n, 0) }

// capacity checks invariant 1. Where nodes are down, limits count instead of
// ends: no job may be placed where its limit does not fit.
func capacity(r *Report, t Table, ran []*run) {
	r.checked(1)
	var edges []edge
	for _, j := range ran {
		if j.end > j.start {
			edges = append(edges, edge{j.start, j.Nodes, j}, edge{j.end, -j.Nodes, j})
		}
	}
	for _, w := range t.Machine.Down {
		edges = append(edges, edge{w.From, w.Nodes, nil}, edge{w.To, -w.Nodes, nil})
	}
	used := 0
	sweep(edges, func(e edge) {
		used += e.delta
		if used > t.Machine.Nodes && e.delta > 0 {
			id := ""
			if e.job != nil {
				id = e.job.ID
			}
			r.breach(1, id, e.at, "%d of %d nodes in use", used, t.Machine.Nodes)
		}
	})
}

// userLimit checks invariant 3.
func userLimit(r *Report, t Table, ran []*run) {
	r.checked(3)
	if t.Rules.UserLimit == 0 {
		return
	}
	var edges []edge
	for _, j := range ran {
		if j.end > j.start {
			edges = append(edges, edge{j.start, 1, j}, edge{j.end, -1, j})
		}
	}
	running := map[string]int{}
	sweep(edges, func(e edge) {
		running[e.job.User] += e.delta
		if running[e.job.User] > t.Rules.UserLimit {
			r.breach(3, e.job.ID, e.at, "user %s runs %d jobs, allowed are %d", e.job.User, running[e.job.User], t.Rules.UserLimit)
		}
	})
}

// fcfs checks invariant 4.
func fcfs(r *Report, t Table, ran []*run) {
	if t.Rules.Discipline != cluster.FCFS {
		r.skip(4, "the scheduler does not start jobs in the order of submission")
		return
	}
	if t.Rules.UserLimit > 0 {
		r.skip(4, "jobs over their user's limit are passed over")
		return
	}
	r.checked(4)
	last := map[string]*run{} // by partition, each of which has its turns
	for _, j := range ran {
		if j.follows { // its turn comes with its eligibility
			continue
		}
		queue := ""
		if t.room != nil {
			queue = strings.Join(t.room.allowed(j.Job), ",")
		}
		latest := last[queue]
		if latest != nil && j.start < latest.start {
			r.breach(4, j.ID, j.start, "starts before job %s, which was submitted earlier", latest.ID)
		}
		if latest == nil || j.start > latest.start {
			last[queue] = j
		}
	}
}

// identical checks invariant 8.
func identical(r *Report, t Table, ran []*run) {
	r.checked(8)
	type kind struct {
		user, partition, qos string
		nodes                int
		limit                int64
		priority             float64
		need                 string
	}
	last := map[kind]*run{}
	for _, j := range ran {
		if j.follows {
			continue
		}
		k := kind{j.User, j.Partition, j.QOS, j.Nodes, j.Limit, j.Priority, needed(j.Job)}
		if before := last[k]; before != nil && j.start < before.start {
			r.breach(8, j.ID, j.start, "overtakes the identical job %s", before.ID)
		}
		last[k] = j
	}
}

// needed spells what a job needs of shared nodes.
func needed(j *trace.Job) string {
	if j.Need == nil {
		return ""
	}
	return fmt.Sprint(j.Need.CPUs, j.Need.GPUs, j.Need.MemoryMB, j.Need.Exclusive)
}

// roomForAll checks invariant 11.
func roomForAll(r *Report, t Table, ran []*run) {
	nodes, jobs := 0, map[string]int{}
	capped := false
	for _, j := range ran {
		nodes += j.Nodes
		jobs[j.User]++
		capped = capped || t.Rules.UserLimit > 0 && jobs[j.User] > t.Rules.UserLimit
	}
	switch {
	case t.room != nil:
		r.skip(11, "nodes are of kinds")
		return
	case nodes > t.Machine.Nodes:
		r.skip(11, "the machine has no room for all jobs at once")
		return
	case capped:
		r.skip(11, "the user limit makes jobs wait")
		return
	case len(t.Machine.Down) > 0:
		r.skip(11, "nodes are down at times")
		return
	case t.Rules.QueueDepth > 0 && len(ran) > t.Rules.QueueDepth:
		r.skip(11, "a pass looks at fewer jobs than there are")
		return
	}
	r.checked(11)
	for _, j := range ran {
		if j.start != j.eligible {
			r.breach(11, j.ID, j.start, "waits %d s on a machine with room for all jobs", j.start-j.eligible)
		}
	}
}

// conservative checks invariant 6: where limits are exact and nothing changes
// the order, the place given at submission is the earliest one beside all
// jobs submitted before.
func conservative(r *Report, t Table, ran []*run) {
	w := t.Rules.Weights
	switch {
	case t.Rules.Discipline != cluster.Conservative:
		r.skip(6, "the scheduler does not reserve for every job")
		return
	case t.Rules.UserLimit > 0 || len(t.Machine.Down) > 0 || t.Rules.LoggedPriority || w.Age+w.Size > 0 || tiered(t.Machine):
		r.skip(6, "a limit, a down window or a priority moves reservations")
		return
	case slices.ContainsFunc(ran, func(j *run) bool { return j.Duration() < max(j.Limit, 1) || j.follows }):
		r.skip(6, "some job ends before its limit, of a second at least, or follows another")
		return
	}
	r.checked(6)
	for i, j := range ran {
		at := t.earliest(ran[:i], j)
		if j.start > at {
			r.breach(6, j.ID, j.start, "starts after its reservation at %d", at)
		}
	}
}

// accepts says that a job will ever fit.
func (t *Table) accepts(j *trace.Job) bool {
	if t.room != nil {
		return t.room.accepts(j)
	}
	return j.Nodes >= 1 && j.Nodes <= t.Machine.Nodes
}

func (t *Table) earliest(others []*run, j *run) int64 {
	if t.room != nil {
		return t.room.earliest(j, others)
	}
	return earliest(t.Machine.Nodes, others, j)
}

func tiered(m cluster.Machine) bool {
	return slices.ContainsFunc(m.Partitions, func(p cluster.Partition) bool { return p.Tier > 0 })
}

// earliest is the first moment from j's submission on at which j fits beside
// the given jobs until its limit.
func earliest(nodes int, others []*run, j *run) int64 {
	var live []*run
	moments := []int64{j.Submit}
	for _, o := range others {
		if o.end > j.Submit {
			live = append(live, o)
			moments = append(moments, o.end)
		}
	}
	slices.Sort(moments)
	fits := func(at int64) bool {
		probes := []int64{at}
		for _, o := range live {
			if o.start > at && o.start < at+j.Limit {
				probes = append(probes, o.start)
			}
		}
		for _, p := range probes {
			used := 0
			for _, o := range live {
				if o.start <= p && p < o.end {
					used += o.Nodes
				}
			}
			if used+j.Nodes > nodes {
				return false
			}
		}
		return true
	}
	for _, at := range moments {
		if fits(at) {
			return at
		}
	}
	return moments[len(moments)-1]
}
