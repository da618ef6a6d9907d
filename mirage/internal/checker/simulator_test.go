package checker

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/dataset"
)

// simulate runs a table through the real simulator and its CSV.
func simulate(t Table, forkAt *int64) ([]Outcome, error) {
	w, err := simulator.NewWorkload(t.Jobs, simulator.Config{Machine: t.Machine, Rules: t.Rules})
	if err != nil {
		return nil, err
	}
	result, err := w.Simulate(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	if forkAt != nil {
		forked(w, *forkAt, result)
	}
	var b bytes.Buffer
	if err := result.WriteCSV(&b); err != nil {
		return nil, err
	}
	r, err := dataset.NewReader[Outcome](&b, "jobs.csv", dataset.CSV, dataset.Options{})
	if err != nil {
		return nil, err
	}
	table, err := dataset.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if len(table.Diagnostics) > 0 {
		return nil, table.Diagnostics[0]
	}
	for i, place := range result.Places {
		if place != nil {
			table.Rows[i].On = strings.Trim(fmt.Sprint(place.On), "[]")
		}
	}
	return table.Rows, nil
}

// forked puts the starts of a simulation in the place of a result's that runs to an
// instant, is forked, and goes on as the fork, while the original does too.
func forked(w *simulator.Workload, at int64, result *simulator.Result) {
	s := w.New()
	of := func(s *simulator.Simulator) func(int32, int64) {
		return func(job int32, at int64) {
			result.Starts[job] = at
			if result.Places != nil {
				result.Places[job] = s.Nodes().PlaceOf(job)
			}
		}
	}
	for i := range result.Starts {
		if _, _, ok := result.Times(i); ok {
			result.Starts[i] = -1
		}
	}
	s.OnStart = of(s)
	s.RunUntil(at)
	fork := s.Fork()
	s.OnStart = nil
	for fork.OnStart = of(fork); fork.Step(); {
		s.Step()
	}
}

// workload draws a small, busy table. Weights are chosen so that different
// priorities are never nearly equal.
func workload(t *rapid.T, d cluster.Discipline) Table {
	var table Table
	table.Machine.Nodes = rapid.IntRange(3, 13).Draw(t, "nodes")
	table.Rules = cluster.Defaults(d)
	table.Rules.UserLimit = rapid.SampledFrom([]int{0, 0, 1, 2, 4}).Draw(t, "user limit")
	if d != cluster.FCFS && rapid.Bool().Draw(t, "priorities") {
		w := &table.Rules.Weights
		w.Age, w.MaxAgeDays, w.Size = 5003.7, 0.02, 97.3
		table.Rules.LoggedPriority = rapid.Bool().Draw(t, "logged")
	}
	if d == cluster.Slurm {
		table.Rules.Backfill.IntervalSeconds = rapid.SampledFrom([]int64{0, 1, 30, 600}).Draw(t, "bf_interval")
		table.Rules.Backfill.WindowMinutes = rapid.SampledFrom([]int64{5, 60, 2880}).Draw(t, "bf_window")
		table.Rules.Backfill.MaxJobTest = rapid.SampledFrom([]int{3, 1000}).Draw(t, "bf_max_job_test")
		table.Rules.QueueDepth = rapid.SampledFrom([]int{4, 1000}).Draw(t, "depth")
	}
	at := int64(1_670_000_000)
	if rapid.IntRange(0, 3).Draw(t, "down") == 0 {
		from := at + rapid.Int64Range(0, 3000).Draw(t, "down from")
		table.Machine.Down = []cluster.Window{{From: from, To: from + rapid.Int64Range(1, 2000).Draw(t, "down for"), Nodes: rapid.IntRange(1, table.Machine.Nodes).Draw(t, "down nodes")}}
	}
	exact := rapid.IntRange(0, 3).Draw(t, "exact limits") == 0
	limits := []int64{0, 1, 60, 300, 900, 901, 3600}
	if exact { // nothing moves a reservation
		limits = limits[1:]
		table.Rules, table.Machine.Down = cluster.Defaults(d), nil
	}
	follow := !exact && rapid.IntRange(0, 3).Draw(t, "dependencies") == 0
	for i := range rapid.IntRange(0, 45).Draw(t, "jobs") {
		at += rapid.SampledFrom([]int64{0, 0, 0, 1, 7, 31, 301, 1201}).Draw(t, "gap")
		limit := rapid.SampledFrom(limits).Draw(t, "limit")
		run := limit
		if !exact {
			run = rapid.Int64Range(0, limit+limit/5).Draw(t, "run")
		}
		j := trace.Job{
			ID: fmt.Sprint(i), User: rapid.SampledFrom([]string{"u", "v", "w"}).Draw(t, "user"),
			Submit: at, Start: at, End: at + run, Limit: limit,
			Nodes:    rapid.IntRange(1, table.Machine.Nodes+1).Draw(t, "job nodes"),
			Priority: float64(rapid.IntRange(0, 3).Draw(t, "priority")) * 131,
		}
		if follow && i > 0 && rapid.Bool().Draw(t, "follows") {
			j.After = fmt.Sprint(rapid.IntRange(0, i-1).Draw(t, "after"))
		}
		table.Jobs = append(table.Jobs, j)
	}
	return table
}

// TestAgainstReference compares starts with the plain simulator's, and has
// the checker look at both.
func TestAgainstReference(t *testing.T) {
	for _, d := range disciplines() {
		for range 2 { // rapid checks a hundred workloads at a time
			t.Run(string(d), func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { againstReference(t, workload(t, d)) }) })
		}
	}
}

func againstReference(t *rapid.T, table Table) {
	got, err := simulate(table, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := (&reference{Table: table}).simulate()
	if diff := cmp.Diff(want, got); diff != "" && len(table.Jobs) > 0 {
		t.Fatalf("differs from the reference (-want +got):\n%s", diff)
	}
	report := Check(table, got)
	if err := Metamorphic(&report, table, got, simulate); err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		t.Error(v)
	}
}

// planted is a bug that the checker has to notice, as a breach of an invariant.
type planted struct {
	name       string
	fault      fault
	discipline cluster.Discipline
	invariant  int
}

// notice looks for a workload in which the checker notices the bug; without the
// bug it may find nothing.
func (p planted) notice(t *testing.T, seeds int, workload func(*rapid.T, cluster.Discipline) Table) {
	t.Run(fmt.Sprintf("%s/%s", p.name, p.discipline), func(t *testing.T) {
		draw := rapid.Custom(func(t *rapid.T) Table { return workload(t, p.discipline) })
		for seed := range seeds {
			table := draw.Example(seed)
			if sound := Check(table, (&reference{Table: table}).simulate()); sound.Total > 0 {
				t.Fatalf("seed %d: false alarm: %v", seed, sound.Err())
			}
			report := Check(table, (&reference{Table: table, fault: p.fault}).simulate())
			if slices.ContainsFunc(report.Violations, func(v Violation) bool { return v.Invariant == p.invariant }) {
				return
			}
		}
		t.Errorf("no breach of invariant %d in %d workloads", p.invariant, seeds)
	})
}

// TestPlantedFaults shows that the checker notices each of nine bugs.
func TestPlantedFaults(t *testing.T) {
	for _, p := range []planted{
		{"one node too many", oneNodeTooMany, cluster.EASY, 1},
		{"user limit off by one", userLimitOffByOne, cluster.Slurm, 3},
		{"runs over its limit", runsOverLimit, cluster.Conservative, 2},
		{"loses jobs", losesJobs, cluster.Slurm, 2},
		{"backfill ignores reservations", backfillIgnoresReservations, cluster.EASY, 5},
		{"backfill ignores reservations", backfillIgnoresReservations, cluster.Conservative, 6},
		{"age without cap", ageWithoutCap, cluster.Slurm, 7},
		{"newest first", newestFirst, cluster.FCFS, 4},
		{"newest first", newestFirst, cluster.Slurm, 8},
		{"starts before its dependency", startsBeforeDependency, cluster.Slurm, 2},
		{"rests with idle nodes", restsWithIdleNodes, cluster.Slurm, 7},
	} {
		p.notice(t, 400, workload)
	}
}

// TestSubmitLeavesThePastAlone: a job submitted to a fork changes nothing
// before that instant, and the original not at all.
func TestSubmitLeavesThePastAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := workload(t, rapid.SampledFrom(disciplines()).Draw(t, "discipline"))
		if len(table.Jobs) == 0 {
			return
		}
		w, err := simulator.NewWorkload(table.Jobs, simulator.Config{Machine: table.Machine, Rules: table.Rules})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := w.Simulate(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		at := table.Jobs[rapid.IntRange(0, len(table.Jobs)-1).Draw(t, "when")].Submit
		s := w.New()
		starts := map[int32]int64{}
		s.OnStart = func(job int32, at int64) { starts[job] = at }
		s.RunUntil(at)
		fork := s.Fork()
		fork.OnStart = func(job int32, start int64) {
			if start < at {
				t.Errorf("the fork starts job %d in the past, at %d", job, start)
			}
		}
		n, err := fork.Submit(trace.Job{Nodes: 1, Limit: 600, End: 600})
		if err != nil {
			t.Fatal(err)
		}
		for fork.Step() {
		}
		if !fork.Extra(n).Finished {
			t.Error("the new job has not ended")
		}
		for s.Step() {
		}
		for i, want := range plain.Starts {
			if got, ok := starts[int32(i)]; ok && got != want {
				t.Errorf("job %d starts at %d, want %d", i, got, want)
			}
		}
	})
}

func disciplines() (all []cluster.Discipline) {
	for _, name := range cluster.Disciplines().Names() {
		all = append(all, cluster.Discipline(name))
	}
	return all
}
