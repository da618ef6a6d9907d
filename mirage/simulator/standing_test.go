package simulator_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/mirage/cluster"
	"github.com/foretime/foretime/mirage/scheduler"
	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/mirage/trace"
)

// TestResume: what is seen of a queue from outside is enough to predict what
// the simulation itself predicts, whoever of the running is one's own.
func TestResume(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := workload(t, rapid.SampledFrom(disciplines()).Draw(t, "discipline"))
		if len(table.Jobs) == 0 {
			return
		}
		table.Rules.Backfill.IntervalSeconds = 0 // when the last pass was cannot be seen
		for i := range table.Jobs {
			table.Jobs[i].After = "" // nor who waits for whom
		}
		c := simulator.Config{Machine: table.Machine, Rules: table.Rules}
		w, err := simulator.NewWorkload(table.Jobs, c)
		if err != nil {
			t.Fatal(err)
		}
		s := w.New()
		starts := map[int32]int64{}
		s.OnStart = func(job int32, at int64) { starts[job] = at }
		s.RunUntil(table.Jobs[rapid.IntRange(0, len(table.Jobs)-1).Draw(t, "when")].Submit)
		var own []int
		if rapid.Bool().Draw(t, "a service runs") {
			n, err := s.Submit(trace.Job{Nodes: rapid.IntRange(1, table.Machine.Nodes).Draw(t, "service nodes"), Limit: 4000, End: 4000})
			if err != nil {
				t.Fatal(err)
			}
			s.RunUntil(s.Now() + 500)
			if e := s.Extra(n); e.Finished || !e.Started {
				return // it would be pending, and nobody's own
			}
			own = append(own, n)
		}
		st := simulator.Standing{Now: s.Now()}
		holds := map[int32]bool{}
		for _, a := range s.Nodes().Running() {
			holds[a.Job] = true
			if s.IsExtra(a.Job) {
				st.Own = append(st.Own, trace.Job{Nodes: int(a.Nodes), Submit: s.Extra(own[0]).Submitted(), Start: a.Start, Limit: a.Until - a.Start})
			}
		}
		for i, j := range table.Jobs {
			j.End = 0
			switch start, started := starts[int32(i)]; {
			case holds[int32(i)]:
				j.Start = start
				st.Running = append(st.Running, j)
			case !started && j.Submit <= st.Now:
				j.Start = 0
				st.Pending = append(st.Pending, j)
			}
		}
		again, err := c.Resume(st)
		if err != nil {
			t.Fatal(err)
		}
		next := trace.Job{Nodes: rapid.IntRange(1, table.Machine.Nodes).Draw(t, "nodes asked"), Limit: 700, End: 700}
		for _, share := range []float64{1, 0.4} {
			want, err := s.Forecast(next, share)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := again.Forecast(next, share); err != nil || got != want {
				t.Fatalf("share %v: %d s, %v; the simulation itself predicts %d s", share, got, err, want)
			}
		}
	})
}

func TestResumeRefuses(t *testing.T) {
	c := simulator.Config{Machine: cluster.Machine{Nodes: 4}, Rules: scheduler.Defaults(scheduler.Slurm)}
	for name, st := range map[string]simulator.Standing{
		"runs on no node":          {Now: 10, Running: []trace.Job{{Limit: 60}}},
		"starts later":             {Now: 10, Running: []trace.Job{{Nodes: 1, Start: 11, Limit: 60}}},
		"started before it came":   {Now: 10, Own: []trace.Job{{Nodes: 1, Start: 3, Submit: 4, Limit: 60}}},
		"runs without a limit":     {Now: 10, Running: []trace.Job{{Nodes: 1}}},
		"waits from the morrow on": {Now: 10, Pending: []trace.Job{{Nodes: 1, Submit: 11, Limit: 60}}},
	} {
		if _, err := c.Resume(st); !errors.Is(err, simulator.ErrStanding) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// More nodes in use than the settings know of, and a job past its limit.
	s, err := c.Resume(simulator.Standing{Now: 100, Running: []trace.Job{{Nodes: 3, Limit: 50}, {Nodes: 3, Limit: 200}}})
	if err != nil {
		t.Fatal(err)
	}
	if wait, err := s.Forecast(trace.Job{Nodes: 6, Limit: 60, End: 60}, 1); err != nil || wait != 100 {
		t.Errorf("six nodes in %d s, %v; want 100", wait, err)
	}
}

// TestResumePlaced: on two nodes of four CPUs one job runs on the second, where it
// is known to be; one that the description would not have runs all the same, and
// what has no room left is taken to have it. A job of three CPUs waits for the
// first two to end.
func TestResumePlaced(t *testing.T) {
	c := simulator.Config{
		Machine: cluster.Machine{Nodes: 2, Kinds: []cluster.Kind{{Name: "k", Nodes: 2, CPUs: 4, Partitions: []string{"p"}}}},
		Rules:   scheduler.Defaults(scheduler.Slurm),
	}
	st := simulator.Standing{Now: 1000, Running: []trace.Job{
		{ID: "a", User: "u", Nodes: 1, Submit: 0, Start: 900, Limit: 600, Partition: "p", Need: &trace.Need{CPUs: 2, On: []int32{1}}},
		{ID: "b", User: "u", Nodes: 1, Submit: 0, Start: 900, Limit: 400, Partition: "gone", Need: &trace.Need{CPUs: 2, On: []int32{0}}},
		{ID: "c", User: "u", Nodes: 1, Submit: 0, Start: 900, Limit: 3600, Need: &trace.Need{CPUs: 3}},
	}}
	s, err := c.Resume(st)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Forecast(trace.Job{User: "v", Nodes: 1, Limit: 60, End: 60, Partition: "p", Need: &trace.Need{CPUs: 3}}, 1)
	if err != nil || got != 300 {
		t.Errorf("%d s, %v; want 300", got, err)
	}
}
