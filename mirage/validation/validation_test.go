package validation

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/mirage/cluster"
	"github.com/foretime/foretime/mirage/policy"
	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/mirage/scheduler"
	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/mirage/trace/synth"
)

// outcome is an episode whose predecessor ends at 0.
func outcome(rewardHours float64) Played {
	return Played{Outcome: chain.Outcome{PredStart: -172800, SuccStart: int64(rewardHours * 3600)}}
}

func TestSummarise(t *testing.T) {
	reactive := []Played{outcome(0), outcome(2), outcome(2.5), outcome(13)}
	played := []Played{outcome(-1), outcome(0), outcome(1), outcome(-3)}
	s := Summarise(played, reactive, chain.Service{Nodes: 8}, chain.Cost{Overlap: 0.5}, 1)
	if s.Episodes != 4 || s.InterruptionHours.Mean != .25 || s.OverlapHours.Mean != 1 || s.CostHours.Mean != .75 || s.WastedNodeHours != 8 || s.ZeroInterruptionShare != .75 {
		t.Errorf("%+v", s.Figures)
	}
	if r := s.ReductionVsReactive; r == nil || math.Abs(*r-(1-1/17.5)) > 1e-12 {
		t.Errorf("reduction %v", r)
	}
	for load, n := range map[Load]int{Low: 2, Medium: 1, Heavy: 1} {
		if got := s.ByLoad[load].Episodes; got != n {
			t.Errorf("%s: %d episodes, want %d", load, got, n)
		}
	}
	if low := s.ByLoad[Low]; low.InterruptionHours.Low > low.InterruptionHours.Mean || low.OverlapHours.P90 != .9 {
		t.Errorf("low %+v", low)
	}
	empty := Summarise(nil, nil, chain.Service{}, chain.Cost{}, 1)
	if empty.Episodes != 0 || empty.ReductionVsReactive != nil || empty.VersusReactive != nil {
		t.Errorf("no episodes: %+v", empty)
	}
}

func TestSignedRank(t *testing.T) {
	// R 4.2: wilcox.test(x, y, paired = TRUE, exact = FALSE, correct = FALSE)
	// with the depression scores of Hollander and Wolfe (1973), p. 29:
	// p-value = 0.03815.
	x := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	y := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	d := make([]float64, len(x))
	for i := range x {
		d[i] = x[i] - y[i]
	}
	if p := signedRank(d); math.Abs(p-0.03815) > 5e-5 {
		t.Errorf("p %v, want 0.03815", p)
	}
	if p := signedRank([]float64{0, 0}); p != 1 {
		t.Errorf("nothing but zeros: p %v, want 1", p)
	}
	if p := signedRank([]float64{1, -1}); p != 1 {
		t.Errorf("balanced: p %v, want 1", p)
	}
}

func TestCompare(t *testing.T) {
	a, b := make([]float64, 30), make([]float64, 30)
	for i := range a {
		a[i], b[i] = float64(i%7), float64(i%7)+1+float64(i%3)
	}
	for _, tt := range []struct {
		a, b []float64
		want string
	}{{a, b, "better"}, {b, a, "worse"}, {a, a, "not told apart"}} {
		p, err := Compare(tt.a, tt.b, 1)
		if err != nil || p.Verdict != tt.want {
			t.Errorf("%+v, %v; want %s", p, err, tt.want)
		}
	}
	if _, err := Compare(a, b[:3], 1); !errors.Is(err, ErrPairs) {
		t.Errorf("error %v", err)
	}
	if _, err := Compare(nil, nil, 1); !errors.Is(err, ErrPairs) {
		t.Errorf("error %v", err)
	}
}

func TestWriteLog(t *testing.T) {
	p := outcome(1.5)
	p.PredEnd, p.SuccStart, p.Submitted = 1_670_000_000, 1_670_005_400, 1_669_990_000
	p.Decided = policy.Decision{Submit: true, ExpectedHours: -0.25, Expects: true}
	q := p
	q.Backfilled, q.Decided = true, policy.Decision{}
	var b bytes.Buffer
	if err := WriteLog(&b, []Played{p, q}, time.UTC); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	want := []string{
		logColumns,
		"1000000,1000001,-0.250000,1.500000,2022-12-02 18:23:20,0,2077-01-01 01:00:00,2022-12-02 14:06:40",
		"1000000,1000001,None,1.500000,2022-12-02 18:23:20,1,2022-12-02 18:23:20,2022-12-02 14:06:40",
	}
	if diff := cmp.Diff(want, lines[1:4]); diff != "" {
		t.Error(diff)
	}
	if len(lines) != 6 || !strings.HasPrefix(lines[0], "---") || !strings.HasPrefix(lines[4], "---") {
		t.Errorf("%q", lines)
	}
}

// TestPlay: the workers do not matter, no policy beats the oracle, and a
// tuned lead costs no more than any other.
func TestPlay(t *testing.T) {
	jobs, err := synth.Default().Generate(synth.Settings{Days: 24, Start: 1_670_000_000, NodeHoursPerDay: .9 * 40 * 24, MaxNodes: 40, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 40}, Rules: scheduler.Defaults(scheduler.Slurm)})
	if err != nil {
		t.Fatal(err)
	}
	plan := samples.Plan{Episodes: 17, Interval: 6 * 3600, Start: 1_670_000_000 + 10*86400, History: 9 * 86400, Service: chain.Service{Nodes: 4, Limit: 12 * 3600}}
	cost := chain.Cost{Overlap: 1}
	play := func(p Player, workers int) []Played {
		played, err := Play(t.Context(), w, plan, p, workers, nil)
		if err != nil {
			t.Fatal(err)
		}
		return played
	}
	oracle := play(Oracle(cost), 2)
	for _, p := range []policy.Policy{policy.Reactive{}, policy.Average{}, policy.Quantile{Q: .8}, policy.NeverLate{}} {
		one := play(With(p), 1)
		if diff := cmp.Diff(one, play(With(p), 3)); diff != "" {
			t.Errorf("%T: one worker and three differ: %s", p, diff)
		}
		for i := range one {
			if cost.Of(one[i].Outcome) < cost.Of(oracle[i].Outcome) {
				t.Errorf("%T beats the oracle in episode %d: %+v, %+v", p, i, one[i].Outcome, oracle[i].Outcome)
			}
		}
	}
	candidates := []policy.Policy{policy.Fixed{LeadHours: 1}, policy.Fixed{LeadHours: 3}, policy.Fixed{LeadHours: 6}}
	best, least, err := Tune(t.Context(), w, plan, candidates, cost, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range candidates {
		if m := mean(Costs(play(With(p), 1), cost)); m < least || i == best && m != least {
			t.Errorf("%+v costs %v, the tuned %+v %v", p, m, candidates[best], least)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Play(ctx, w, plan, With(policy.Reactive{}), 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	plan.Interval = 0
	if _, err := Play(t.Context(), w, plan, With(policy.Reactive{}), 1, nil); !errors.Is(err, samples.ErrPlan) {
		t.Errorf("error %v", err)
	}
}
