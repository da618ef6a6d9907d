package checker

import (
	"fmt"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// Simulate runs a table from an idle machine and returns its outcome. Where
// forkAt is not nil, the run is forked at that instant and the fork goes on.
type Simulate func(t Table, forkAt *int64) ([]Outcome, error)

// Metamorphic checks the invariants that take more than one run: 10 (the same
// again, shifted in time, doubled in size), 12 (forked in the middle) and 15
// (the hand-made case). It adds to a report that Check made.
func Metamorphic(r *Report, t Table, outcomes []Outcome, simulate Simulate) error {
	r.checked(10, 12, 15)
	middle := int64(0)
	if len(t.Jobs) > 0 {
		middle = t.Jobs[len(t.Jobs)/2].Submit
	}
	const shift = 1_000_003
	for _, again := range []struct {
		invariant int
		what      string
		table     Table
		forkAt    *int64
		shift     int64
	}{
		{10, "the same input again", t, nil, 0},
		{10, "all times shifted", shifted(t, shift), nil, shift},
		{10, "nodes doubled", doubled(t), nil, 0},
		{12, "forked in the middle", t, &middle, 0},
	} {
		got, err := simulate(again.table, again.forkAt)
		if err != nil {
			return fmt.Errorf("%s: %w", again.what, err)
		}
		same(r, again.invariant, again.what, outcomes, got, again.shift)
	}
	return hand(r, t.Rules, simulate)
}

func shifted(t Table, by int64) Table {
	jobs := append([]trace.Job(nil), t.Jobs...)
	for i := range jobs {
		jobs[i].Submit += by
		jobs[i].Start += by
		jobs[i].End += by
	}
	t.Jobs = jobs
	down := append(t.Machine.Down[:0:0], t.Machine.Down...)
	for i := range down {
		down[i].From += by
		down[i].To += by
	}
	t.Machine.Down = down
	return t
}

func doubled(t Table) Table {
	jobs := append([]trace.Job(nil), t.Jobs...)
	for i := range jobs {
		jobs[i].Nodes *= 2
		if n := jobs[i].Need; n != nil {
			jobs[i].Need = &trace.Need{CPUs: 2 * n.CPUs, GPUs: 2 * n.GPUs, MemoryMB: 2 * n.MemoryMB, Exclusive: n.Exclusive}
		}
	}
	t.Jobs = jobs
	t.Machine.Nodes *= 2
	t.Machine.Kinds = append(t.Machine.Kinds[:0:0], t.Machine.Kinds...)
	for i := range t.Machine.Kinds {
		t.Machine.Kinds[i].Nodes *= 2
	}
	t.Machine.Partitions = append(t.Machine.Partitions[:0:0], t.Machine.Partitions...)
	for i := range t.Machine.Partitions {
		t.Machine.Partitions[i].MaxNodes *= 2
	}
	down := append(t.Machine.Down[:0:0], t.Machine.Down...)
	for i := range down {
		down[i].Nodes *= 2
	}
	t.Machine.Down = down
	return t
}

// same reports jobs whose starts in b are not those in a, shifted.
func same(r *Report, invariant int, what string, a, b []Outcome, shift int64) {
	starts := make(map[string]*int64, len(b))
	for i := range b {
		starts[b[i].ID] = b[i].Start
	}
	if len(a) != len(b) {
		r.breach(invariant, "", 0, "%s: %d jobs, want %d", what, len(b), len(a))
	}
	for i := range a {
		switch at, ok := starts[a[i].ID]; {
		case !ok:
			r.breach(invariant, a[i].ID, a[i].Submit, "%s: missing", what)
		case (at == nil) != (a[i].Start == nil):
			r.breach(invariant, a[i].ID, a[i].Submit, "%s: started in one run only", what)
		case at != nil && *at != *a[i].Start+shift:
			r.breach(invariant, a[i].ID, *a[i].Start, "%s: starts at %d, want %d", what, *at-shift, *a[i].Start)
		}
	}
}

// hand runs invariant 15. On 88 nodes, A (87 nodes, 48 h) starts at 0 and B
// (4 nodes) must wait for it; C (1 node, 48 h) comes last, outlives A, and
// still does not delay B, which needs 4 of 87 nodes: C starts when it comes.
func hand(r *Report, rules cluster.Rules, simulate Simulate) error {
	const limit = 48 * 3600
	job := func(id string, submit int64, nodes int) trace.Job {
		return trace.Job{ID: id, User: id, Submit: submit, Start: submit, End: submit + limit, Limit: limit, Nodes: nodes}
	}
	t := Table{Jobs: []trace.Job{job("A", 0, 87), job("B", 60, 4), job("C", 120, 1)}, Rules: cluster.Defaults(rules.Discipline)}
	t.Machine.Nodes = 88
	want := map[string]int64{"A": 0, "B": limit, "C": 120}
	if rules.Discipline == cluster.FCFS {
		want["C"] = limit
	}
	got, err := simulate(t, nil)
	if err != nil {
		return fmt.Errorf("hand-made case: %w", err)
	}
	for _, o := range got {
		if o.Start == nil || *o.Start != want[o.ID] {
			r.breach(15, o.ID, o.Submit, "hand-made case: starts at %v, want %d", o.Start, want[o.ID])
		}
	}
	if len(got) != len(want) {
		r.breach(15, "", 0, "hand-made case: %d outcomes, want %d", len(got), len(want))
	}
	return nil
}
