package chain

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
)

// busy returns a month of jobs on a machine of 40 nodes.
func busy(t testing.TB, seed uint64) *simulator.Workload {
	jobs, err := synth.Default().Generate(t.Context(), synth.Settings{Days: 28, Start: 1_670_000_000, NodeHoursPerDay: .85 * 40 * 24, MaxNodes: 40, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return workload(t, jobs, 40)
}

func workload(t testing.TB, jobs []trace.Job, nodes int) *simulator.Workload {
	rules := cluster.Defaults(cluster.Slurm)
	rules.UserLimit = 8
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: nodes}, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestHandMade: one other job, submitted shortly before the predecessor's end,
// takes the nodes for the three hours after it.
func TestHandMade(t *testing.T) {
	// Four nodes; the service takes 2 for 48 h from 0. A job of 3 nodes and
	// 3 h comes at 47 h and cannot run beside it; it starts at the
	// predecessor's end unless the successor was there before.
	other := trace.Job{ID: "1", User: "u", Submit: 47 * 3600, Start: 47 * 3600, End: 50 * 3600, Limit: 3 * 3600, Nodes: 3}
	w := workload(t, []trace.Job{other}, 4)
	service := Service{Nodes: 2, Limit: 48 * 3600}
	begin := func() *Pair {
		p, err := Begin(w.NewFrom(0), 0, service)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	reactive, err := begin().Decisions(func(*Pair) (bool, error) { return false, nil })
	if err != nil {
		t.Fatal(err)
	}
	// At the end of the predecessor the job of 3 nodes goes first, for 3 h.
	if want := (Outcome{0, 48 * 3600, 48 * 3600, 51 * 3600, false}); reactive != want {
		t.Errorf("reactive %+v, want %+v", reactive, want)
	}
	best, err := begin().Best(Cost{Overlap: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Two nodes are free all the time: any submission before the other job's
	// starts at once, so the best is the last decision before 47 h, and it
	// overlaps by an hour and ten minutes; 47 h itself comes too late.
	if cost := (Cost{Overlap: 1}).CostOf(best); math.Abs(cost-7.0/6) > 1e-9 {
		t.Errorf("best %+v costs %v h, want 70 minutes", best, cost)
	}
	if dear, err := begin().Best(Cost{Overlap: 4}); err != nil || dear.InterruptionHours() != 3 {
		t.Errorf("best at four times the cost of overlap: %+v, %v; want the interruption of 3 h", dear, err)
	}
}

// TestBestIsBest compares the oracle, which gives up early, with all
// decisions played to the end, and checks what holds for every outcome.
func TestBestIsBest(t *testing.T) {
	w := busy(t, 1)
	days := []*simulator.Simulator{w.New()}
	for day := range int64(18) { // simulated once, for all pairs
		next := days[day].Fork()
		next.RunUntil(1_670_000_000 + (day+1)*86400)
		days = append(days, next)
	}
	rapid.Check(t, func(t *rapid.T) {
		day := rapid.Int64Range(5, 18).Draw(t, "day")
		at := 1_670_000_000 + day*86400 + rapid.Int64Range(0, 86400).Draw(t, "second")
		service := Service{Nodes: rapid.SampledFrom([]int{1, 8}).Draw(t, "nodes"), Limit: rapid.SampledFrom([]int64{4, 9}).Draw(t, "hours") * 3600}
		cost := Cost{Overlap: rapid.SampledFrom([]float64{0.5, 1}).Draw(t, "cost")}
		begin := func() *Pair {
			p, err := Begin(days[day], at, service)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		least, reactive := math.Inf(1), Outcome{}
		last, err := begin().Decisions(func(p *Pair) (bool, error) {
			o, err := p.SubmitNow()
			least = min(least, cost.CostOf(o))
			if o.SuccStart < o.Submitted || o.Submitted != p.Now() || o.PredEnd-o.PredStart != service.Limit {
				t.Fatalf("impossible: %+v at %d", o, p.Now())
			}
			return false, err
		})
		if err != nil {
			t.Fatal(err)
		}
		reactive = last
		if reactive.RewardSeconds() < 0 || reactive.Submitted != reactive.PredEnd {
			t.Fatalf("reactive %+v", reactive)
		}
		best, err := begin().Best(cost)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(least, cost.CostOf(last)); cost.CostOf(best) != want {
			t.Fatalf("best costs %v, want %v", cost.CostOf(best), want)
		}
	})
}

func TestRefuses(t *testing.T) {
	w := busy(t, 2)
	s := w.New()
	s.RunUntil(1_670_500_000)
	if _, err := Begin(s, 1_670_500_000, Service{Nodes: 41, Limit: 3600}); !errors.Is(err, cluster.ErrOversize) {
		t.Errorf("error %v, want ErrOversize", err)
	}
	if _, err := Begin(s, 1_670_500_000, Service{Nodes: 0, Limit: 3600}); !errors.Is(err, cluster.ErrOversize) {
		t.Errorf("error %v, want ErrOversize", err)
	}
}

// TestNextDecision: decisions fall on multiples of ten minutes after the submission.
func TestNextDecision(t *testing.T) {
	p := &Pair{Submit: 100}
	for at, want := range map[int64]int64{100: 700, 101: 700, 699: 700, 700: 1300, 950: 1300} {
		if got := p.nextDecision(at); got != want {
			t.Errorf("after %d: %d, want %d", at, got, want)
		}
	}
}

// TestBestOfEquals: on an empty machine every submission starts at once, and where
// overlap costs nothing all cost the same; the earliest is the best.
func TestBestOfEquals(t *testing.T) {
	w := workload(t, []trace.Job{{ID: "1", User: "u", Submit: 1, Start: 1, End: 2, Limit: 1, Nodes: 1}}, 4)
	p, err := Begin(w.NewFrom(0), 0, Service{Nodes: 1, Limit: 3600})
	if err != nil {
		t.Fatal(err)
	}
	if best, err := p.Best(Cost{}); err != nil || best.Submitted != 0 {
		t.Errorf("%+v, %v: want the submission at the predecessor's start", best, err)
	}
}
