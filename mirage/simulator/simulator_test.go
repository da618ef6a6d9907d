package simulator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/mirage/checker"
	"github.com/foretime/foretime/mirage/cluster"
	"github.com/foretime/foretime/mirage/scheduler"
	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/shared/dataset"
)

// simulate runs a table through the real simulator and its CSV.
func simulate(t checker.Table, forkAt *int64) ([]checker.Outcome, error) {
	w, err := simulator.NewWorkload(t.Jobs, simulator.Config{Machine: t.Machine, Rules: t.Rules})
	if err != nil {
		return nil, err
	}
	var result *simulator.Result
	if forkAt == nil {
		result, err = w.Simulate(context.Background(), nil)
	} else {
		result, err = w.SimulateForked(context.Background(), *forkAt)
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := result.WriteCSV(&b); err != nil {
		return nil, err
	}
	r, err := dataset.NewReader[checker.Outcome](&b, "jobs.csv", dataset.CSV, dataset.Options{})
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
	return table.Rows, nil
}

// workload draws a small, busy table. Weights are chosen so that different
// priorities are never nearly equal.
func workload(t *rapid.T, d scheduler.Discipline) checker.Table {
	var table checker.Table
	table.Machine.Nodes = rapid.IntRange(3, 13).Draw(t, "nodes")
	table.Rules = scheduler.Defaults(d)
	table.Rules.UserLimit = rapid.SampledFrom([]int{0, 0, 1, 2, 4}).Draw(t, "user limit")
	if d != scheduler.FCFS && rapid.Bool().Draw(t, "priorities") {
		w := &table.Rules.Weights
		w.Age, w.MaxAgeDays, w.Size = 5003.7, 0.02, 97.3
		table.Rules.LoggedPriority = rapid.Bool().Draw(t, "logged")
	}
	if d == scheduler.Slurm {
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
		table.Rules, table.Machine.Down = scheduler.Defaults(d), nil
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
			j.Think = rapid.SampledFrom([]int64{0, 45}).Draw(t, "think")
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

func againstReference(t *rapid.T, table checker.Table) {
	got, err := simulate(table, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := (&reference{Table: table}).simulate()
	if diff := cmp.Diff(want, got); diff != "" && len(table.Jobs) > 0 {
		t.Fatalf("differs from the reference (-want +got):\n%s", diff)
	}
	report := checker.Check(table, got)
	if err := checker.Metamorphic(&report, table, got, simulate); err != nil {
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
	discipline scheduler.Discipline
	invariant  int
}

// notice looks for a workload in which the checker notices the bug; without the
// bug it may find nothing.
func (p planted) notice(t *testing.T, seeds int, workload func(*rapid.T, scheduler.Discipline) checker.Table) {
	t.Run(fmt.Sprintf("%s/%s", p.name, p.discipline), func(t *testing.T) {
		draw := rapid.Custom(func(t *rapid.T) checker.Table { return workload(t, p.discipline) })
		for seed := range seeds {
			table := draw.Example(seed)
			if sound := checker.Check(table, (&reference{Table: table}).simulate()); sound.Total > 0 {
				t.Fatalf("seed %d: false alarm: %v", seed, sound.Err())
			}
			report := checker.Check(table, (&reference{Table: table, fault: p.fault}).simulate())
			if slices.ContainsFunc(report.Violations, func(v checker.Violation) bool { return v.Invariant == p.invariant }) {
				return
			}
		}
		t.Errorf("no breach of invariant %d in %d workloads", p.invariant, seeds)
	})
}

// TestPlantedFaults shows that the checker notices each of nine bugs.
func TestPlantedFaults(t *testing.T) {
	for _, p := range []planted{
		{"one node too many", oneNodeTooMany, scheduler.EASY, 1},
		{"user limit off by one", userLimitOffByOne, scheduler.Slurm, 3},
		{"runs over its limit", runsOverLimit, scheduler.Conservative, 2},
		{"loses jobs", losesJobs, scheduler.Slurm, 2},
		{"backfill ignores reservations", backfillIgnoresReservations, scheduler.EASY, 5},
		{"backfill ignores reservations", backfillIgnoresReservations, scheduler.Conservative, 6},
		{"age without cap", ageWithoutCap, scheduler.Slurm, 7},
		{"newest first", newestFirst, scheduler.FCFS, 4},
		{"newest first", newestFirst, scheduler.Slurm, 8},
		{"starts before its dependency", startsBeforeDependency, scheduler.Slurm, 2},
		{"rests with idle nodes", restsWithIdleNodes, scheduler.Slurm, 7},
	} {
		p.notice(t, 400, workload)
	}
}

func TestDegenerate(t *testing.T) {
	job := func(id string, submit int64, nodes int, limit, run int64) trace.Job {
		return trace.Job{ID: id, User: "u", Submit: submit, Start: submit, End: submit + run, Limit: limit, Nodes: nodes}
	}
	tests := []struct {
		name string
		jobs []trace.Job
		want string // starts, "-" for rejected
	}{
		{"no jobs", nil, ""},
		{"one job", []trace.Job{job("a", 5, 1, 60, 30)}, "5"},
		{"zero seconds", []trace.Job{job("a", 5, 4, 0, 0), job("b", 5, 4, 0, 0)}, "5 5"},
		{"larger than the machine", []trace.Job{job("a", 0, 5, 60, 60), job("b", 0, 4, 60, 60)}, "- 0"},
		{"no nodes", []trace.Job{job("a", 0, 0, 60, 60), job("b", 0, 1, 60, 60)}, "- 0"},
		{"all in one second", []trace.Job{job("a", 0, 4, 60, 60), job("b", 0, 4, 60, 60), job("c", 0, 4, 60, 60)}, "0 60 120"},
		{"cut at the limit", []trace.Job{job("a", 0, 4, 60, 100), job("b", 0, 4, 60, 1)}, "0 60"},
		{"before 1970", []trace.Job{job("a", -100, 4, 60, 60), job("b", -90, 4, 60, 60)}, "-100 -40"},
	}
	for _, d := range disciplines() {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s/%s", d, tt.name), func(t *testing.T) {
				w, err := simulator.NewWorkload(tt.jobs, simulator.Config{Machine: cluster.Machine{Nodes: 4}, Rules: scheduler.Defaults(d)})
				if err != nil {
					t.Fatal(err)
				}
				r, err := w.Simulate(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for i := range tt.jobs {
					if start, _, ok := r.Started(i); ok {
						got = append(got, fmt.Sprint(start))
					} else {
						got = append(got, "-")
					}
				}
				if s := strings.Join(got, " "); s != tt.want {
					t.Errorf("starts %q, want %q", s, tt.want)
				}
			})
		}
	}
}

func TestNewWorkloadRefuses(t *testing.T) {
	job := trace.Job{ID: "a", Submit: 10, Start: 10, End: 20, Limit: 60, Nodes: 1}
	with := func(f func(*trace.Job)) trace.Job { j := job; f(&j); return j }
	slurm := scheduler.Defaults(scheduler.Slurm)
	four := cluster.Machine{Nodes: 4}
	tests := []struct {
		name   string
		jobs   []trace.Job
		config simulator.Config
		want   error
	}{
		{"no nodes", nil, simulator.Config{Rules: slurm}, cluster.ErrMachine},
		{"empty window", nil, simulator.Config{Machine: cluster.Machine{Nodes: 4, Down: []cluster.Window{{From: 5, To: 5, Nodes: 1}}}, Rules: slurm}, cluster.ErrMachine},
		{"no rules", nil, simulator.Config{Machine: four}, scheduler.ErrRules},
		{"out of order", []trace.Job{job, with(func(j *trace.Job) { j.Submit = 9 })}, simulator.Config{Machine: four, Rules: slurm}, simulator.ErrWorkload},
		{"negative limit", []trace.Job{with(func(j *trace.Job) { j.Limit = -1 })}, simulator.Config{Machine: four, Rules: slurm}, simulator.ErrWorkload},
		{"negative duration", []trace.Job{with(func(j *trace.Job) { j.End = 9 })}, simulator.Config{Machine: four, Rules: slurm}, simulator.ErrWorkload},
		{"follows itself", []trace.Job{with(func(j *trace.Job) { j.After = "a" })}, simulator.Config{Machine: four, Rules: slurm}, simulator.ErrWorkload},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := simulator.NewWorkload(tt.jobs, tt.config); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}

// TestFairShare: of two users with the same request the one who has used the
// machine less goes first, though it submitted later.
func TestFairShare(t *testing.T) {
	rules := scheduler.Defaults(scheduler.Slurm)
	rules.Weights.FairShare, rules.Weights.HalfLifeDays = 4000, 2
	jobs := []trace.Job{
		{ID: "0", User: "heavy", Submit: 0, End: 7200, Limit: 7200, Nodes: 4},
		{ID: "1", User: "heavy", Submit: 10, Start: 10, End: 610, Limit: 600, Nodes: 4},
		{ID: "2", User: "light", Submit: 20, Start: 20, End: 620, Limit: 600, Nodes: 4},
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 4}, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Simulate(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Starts[2] != 7200 || r.Starts[1] != 7800 {
		t.Errorf("starts %v, want light at 7200 and heavy at 7800", r.Starts)
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

// TestForecast: on a machine of four nodes, where one job of four hours' limit
// runs since an hour and one of two hours waits, a job of four nodes is
// predicted to start after what is left of both.
func TestForecast(t *testing.T) {
	jobs := []trace.Job{
		{ID: "1", User: "u", Submit: 0, End: 4000, Limit: 4 * 3600, Nodes: 4},
		{ID: "2", User: "v", Submit: 60, Start: 60, End: 100, Limit: 2 * 3600, Nodes: 1},
		{ID: "3", User: "w", Submit: 3700, Start: 3700, End: 3701, Limit: 9 * 3600, Nodes: 4},
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 4}, Rules: scheduler.Defaults(scheduler.EASY)})
	if err != nil {
		t.Fatal(err)
	}
	s := w.New()
	s.RunUntil(3600)
	for share, want := range map[float64]int64{1: 5 * 3600, 0.5: 5 * 1800} {
		got, err := s.Forecast(trace.Job{Nodes: 4, Limit: 60, End: 60}, share)
		if err != nil || got != want {
			t.Errorf("share %v: %d s, %v; want %d s", share, got, err, want)
		}
	}
	if _, err := s.Forecast(trace.Job{Nodes: 5, Limit: 60, End: 60}, 1); !errors.Is(err, cluster.ErrOversize) {
		t.Errorf("error %v", err)
	}
	for s.Step() {
	}
	if s.Now() != 4041 { // 1 until 4000, then 2 and, beside nobody, 3
		t.Errorf("the simulation itself ends at %d", s.Now())
	}
}

func disciplines() (all []scheduler.Discipline) {
	for _, name := range scheduler.Disciplines().Names() {
		all = append(all, scheduler.Discipline(name))
	}
	return all
}
