package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// sharedWorkload is a workload on nodes of kinds, in partitions that may have
// nodes in common, whose jobs share nodes or not.
func sharedWorkload(t *rapid.T, d cluster.Discipline) Table {
	table := workload(t, d)
	m := &table.Machine
	m.Nodes = 0
	partitions := [][]string{{"a"}, {"b"}, {"a"}, {"b"}, {"a", "b"}, nil}
	for i := range rapid.IntRange(1, 3).Draw(t, "kinds") {
		k := cluster.Kind{
			Name: fmt.Sprint(i), Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"), CPUs: rapid.IntRange(1, 8).Draw(t, "cpus"),
			GPUs: rapid.IntRange(0, 4).Draw(t, "gpus"), MemoryMB: rapid.SampledFrom([]int64{0, 1000, 4000}).Draw(t, "memory"),
			Partitions: rapid.SampledFrom(partitions).Draw(t, "partitions"),
		}
		m.Kinds, m.Nodes = append(m.Kinds, k), m.Nodes+k.Nodes
	}
	m.Partitions = []cluster.Partition{{Name: "a"}, {Name: "b", MaxSeconds: 3000, MaxNodes: 5}}
	if d != cluster.FCFS {
		m.Partitions[0].Tier = rapid.IntRange(0, 1).Draw(t, "tier")
	}
	for i := range m.Down {
		m.Down[i].Nodes = min(m.Down[i].Nodes, m.Nodes)
	}
	for i := range table.Jobs {
		j := &table.Jobs[i]
		j.Nodes = rapid.IntRange(1, 3).Draw(t, "job nodes")
		j.Partition = rapid.SampledFrom([]string{"a", "b", "a", "b", "a,b", ""}).Draw(t, "partition")
		if rapid.IntRange(0, 3).Draw(t, "shares") > 0 {
			j.Need = &trace.Need{
				CPUs: rapid.IntRange(0, 9).Draw(t, "cpus"), GPUs: rapid.IntRange(0, 3).Draw(t, "gpus"),
				MemoryMB:  rapid.Int64Range(0, 3000).Draw(t, "memory"),
				Exclusive: rapid.IntRange(0, 9).Draw(t, "exclusive") == 0,
			}
		}
	}
	return table
}

// TestSharedNodes compares starts and places on 200 workloads of each discipline
// with the plain simulator's, and has the checker look at both.
func TestSharedNodes(t *testing.T) {
	for _, d := range disciplines() {
		for range 2 {
			t.Run(string(d), func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { againstReference(t, sharedWorkload(t, d)) }) })
		}
	}
}

// TestPlantedSharingFaults shows that the checker notices bugs of placement.
func TestPlantedSharingFaults(t *testing.T) {
	for _, p := range []planted{
		{"forgets GPUs", forgetsGPUs, cluster.Slurm, 1},
		{"forgets memory", forgetsMemory, cluster.EASY, 1},
		{"shares exclusive nodes", sharesExclusive, cluster.Conservative, 1},
		{"leaves the partition", leavesPartition, cluster.FCFS, 2},
		{"ignores tiers", ignoresTiers, cluster.Slurm, 7},
		{"one CPU too many", oneNodeTooMany, cluster.Slurm, 1},
		{"runs on nodes that go down", ignoresDown, cluster.EASY, 1},
		{"backfill ignores reservations", backfillIgnoresReservations, cluster.EASY, 5},
		{"backfill ignores reservations", backfillIgnoresReservations, cluster.Conservative, 6},
		{"one partition holds up another", holdsUpOthers, cluster.FCFS, 7},
	} {
		p.notice(t, 1000, sharedWorkload)
	}
}

// TestPlaced: of a machine with a node of two CPUs and four GPUs and one of eight
// CPUs, each of these jobs is placed by hand.
func TestPlaced(t *testing.T) {
	job := func(id string, limit int64, need *trace.Need) trace.Job {
		return trace.Job{ID: id, User: id, End: limit, Limit: limit, Nodes: 1, Need: need}
	}
	jobs := []trace.Job{
		job("a GPU", 60, &trace.Need{CPUs: 1, GPUs: 1}),
		job("three GPUs", 60, &trace.Need{CPUs: 1, GPUs: 3}),
		job("another GPU, when one is free", 60, &trace.Need{CPUs: 1, GPUs: 1}),
		job("six CPUs", 90, &trace.Need{CPUs: 6}),
		job("a whole node", 60, nil),
		job("five GPUs, never", 60, &trace.Need{CPUs: 1, GPUs: 5}),
		job("two CPUs beside the six", 60, &trace.Need{CPUs: 2}),
	}
	machine := cluster.Machine{Nodes: 2, Kinds: []cluster.Kind{{Name: "gpu", Nodes: 1, CPUs: 2, GPUs: 4}, {Name: "cpu", Nodes: 1, CPUs: 8}}}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: machine, Rules: cluster.Defaults(cluster.Conservative)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Simulate(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range jobs {
		if start, _, ok := r.Times(i); ok {
			got = append(got, fmt.Sprint(start, " on ", r.Places[i].On[0]))
		} else {
			got = append(got, "-")
		}
	}
	want := "0 on 0, 0 on 0, 60 on 0, 0 on 1, 90 on 1, -, 0 on 1"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
}

// refRoom is what the reference knows of nodes.
type refRoom struct {
	kind   []cluster.Kind
	closed []bool
}

func (f *reference) nodes() *refRoom {
	if f.room == nil {
		f.room = &refRoom{}
		for _, k := range f.Machine.Kinds {
			for range k.Nodes {
				f.room.kind = append(f.room.kind, k)
			}
		}
	}
	return f.room
}

// partitionsOf are those that a job may run in; nil is any.
func (f *reference) partitionsOf(i int) (names []string, tier int) {
	j := f.Jobs[i]
	if j.Partition == "" {
		return nil, 0
	}
	names = []string{}
	for _, name := range strings.Split(j.Partition, ",") {
		for _, p := range f.Machine.Partitions {
			if p.Name == name && !(p.MaxSeconds > 0 && j.Limit > p.MaxSeconds) && !(p.MaxNodes > 0 && j.Nodes > p.MaxNodes) {
				names, tier = append(names, name), max(tier, p.Tier)
			}
		}
	}
	return names, tier
}

func (f *reference) admitted(i, n int) bool {
	names, _ := f.partitionsOf(i)
	k := f.nodes().kind[n]
	return names == nil || len(names) > 0 && len(k.Partitions) == 0 || f.fault == leavesPartition ||
		slices.ContainsFunc(names, func(p string) bool { return slices.Contains(k.Partitions, p) })
}

// takes is what a job takes of a node.
func (f *reference) takes(i, n int) [3]int64 {
	j, k := f.Jobs[i], f.nodes().kind[n]
	if j.Need == nil || j.Need.Exclusive && f.fault != sharesExclusive {
		return [3]int64{int64(k.CPUs), int64(k.GPUs), k.MemoryMB}
	}
	each := func(x int64) int64 {
		if x%int64(j.Nodes) != 0 {
			return x/int64(j.Nodes) + 1
		}
		return x / int64(j.Nodes)
	}
	return [3]int64{max(each(int64(j.Need.CPUs)), 1), each(int64(j.Need.GPUs)), each(j.Need.MemoryMB)}
}

// takesAt says that a node takes a job at a moment.
func (f *reference) takesAt(i, n int, at int64) bool {
	k := f.nodes().kind[n]
	sum, beside := f.takes(i, n), false
	for _, list := range [][]held{f.running, f.planned} {
		for _, h := range list {
			if h.from <= at && at < max(h.to, f.now+1) && slices.Contains(h.on, n) {
				if beside = true; h.alone {
					return false
				}
				for r, x := range f.takes(h.job, n) {
					sum[r] += x
				}
			}
		}
	}
	for _, w := range f.Machine.Down {
		if n >= len(f.nodes().kind)-w.Nodes && w.From <= at && at < w.To && f.fault != ignoresDown {
			return false
		}
	}
	if need := f.Jobs[i].Need; beside && (need == nil || need.Exclusive && f.fault != sharesExclusive) {
		return false
	}
	spare := int64(0)
	if f.fault == oneNodeTooMany {
		spare = 1
	}
	return sum[0] <= int64(k.CPUs)+spare && (sum[1] <= int64(k.GPUs) || f.fault == forgetsGPUs) &&
		(k.MemoryMB == 0 || sum[2] <= k.MemoryMB || f.fault == forgetsMemory)
}

// choice is the first nodes that take a job from at to its limit; nil where there
// are not enough.
func (f *reference) choice(i int, at int64) []int {
	j := f.Jobs[i]
	moments := []int64{at}
	for _, h := range f.planned {
		moments = append(moments, h.from)
	}
	for _, w := range f.Machine.Down {
		moments = append(moments, w.From)
	}
	var on []int
	for n := range f.nodes().kind {
		if len(f.room.closed) > 0 && f.room.closed[n] || !f.admitted(i, n) {
			continue
		}
		if !slices.ContainsFunc(moments, func(m int64) bool { return m >= at && m < at+max(j.Limit, 1) && !f.takesAt(i, n, m) }) {
			if on = append(on, n); len(on) == j.Nodes {
				return on
			}
		}
	}
	return nil
}

// accepted says that a job fits on the idle machine.
func (f *reference) accepted(i int) bool {
	j := f.Jobs[i]
	if len(f.Machine.Kinds) == 0 {
		return j.Nodes <= f.Machine.Nodes
	}
	idle := &reference{Table: f.Table, fault: f.fault}
	idle.Machine.Down = nil
	return idle.choice(i, 0) != nil
}

// close keeps the nodes that a job could have from the rest of the pass and
// reports whether there are others.
func (f *reference) close(i int) bool {
	if len(f.Machine.Kinds) == 0 || f.fault == holdsUpOthers {
		return false
	}
	if f.room.closed == nil {
		f.room.closed = make([]bool, len(f.room.kind))
	}
	for n := range f.room.kind {
		f.room.closed[n] = f.room.closed[n] || f.admitted(i, n)
	}
	return slices.Contains(f.room.closed, false)
}
