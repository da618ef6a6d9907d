package validation

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
	"github.com/foretime/foretime/shared/uncertainty"
)

// outcome is an episode whose predecessor ends at 0.
func outcome(rewardHours float64) Played {
	return Played{Outcome: chain.Outcome{PredStart: -172800, SuccStart: int64(rewardHours * 3600)}}
}

func TestSummarise(t *testing.T) {
	reactive := []Played{outcome(0), outcome(2), outcome(2.5), outcome(13)}
	played := []Played{outcome(-1), outcome(0), outcome(1), outcome(-3)}
	s := Summarise(played, reactive, samples.Plan{Interval: 43200, Service: chain.Service{Nodes: 8}}, chain.Cost{Overlap: 0.5})
	if s.Episodes != 4 || s.InterruptionHours.Mean.Value != .25 || s.OverlapHours.Mean.Value != 1 || s.CostHours.Mean.Value != .75 || s.WastedNodeHours != 8 || s.ZeroInterruptionShare != .75 {
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
	if o := s.OverlapHours; o.Mean.Low != 0 || o.P50 != .5 || math.Abs(o.P90-2.4) > 1e-12 || math.Abs(o.P99-2.94) > 1e-12 || s.InterruptionHours.P50 != 0 { // of 0, 0, 1 and 3 h
		t.Errorf("overlaps %+v, interruptions %+v", o, s.InterruptionHours)
	}
	if low := s.ByLoad[Low]; low.InterruptionHours.Mean.Low > low.InterruptionHours.Mean.Value || low.OverlapHours.P90 != .9 {
		t.Errorf("low %+v", low)
	}
	for seconds, want := range map[int64]float64{-3600: 1, 59: 1, 60: 1, 61: 0} { // a minute is no interruption
		one := []Played{{Outcome: chain.Outcome{SuccStart: seconds}}}
		s := Summarise(one, one, samples.Plan{Interval: 3600}, chain.Cost{})
		if s.ZeroInterruptionShare != want || (s.ReductionVsReactive != nil) != (seconds > 0) {
			t.Errorf("%d s: %+v", seconds, s.Figures)
		}
	}
	empty := Summarise(nil, nil, samples.Plan{}, chain.Cost{})
	if empty.Episodes != 0 || empty.ReductionVsReactive != nil || empty.VersusReactive != nil {
		t.Errorf("no episodes: %+v", empty)
	}
}

func TestCompare(t *testing.T) {
	a, b, blocks := make([]float64, 30), make([]float64, 30), make([]int, 30)
	for i := range a {
		a[i], b[i], blocks[i] = float64(i%7), float64(i%7)+1+float64(i%3), i/3
	}
	for _, tt := range []struct {
		a, b []float64
		want string
	}{{a, b, "better"}, {b, a, "worse"}, {a, a, "no difference shown"}} {
		if p := Compare(tt.a, tt.b, blocks); p.Verdict != tt.want || p.Blocks != 10 {
			t.Errorf("%+v; want %s", p, tt.want)
		}
	}
	if p := Compare(a, b, make([]int, 30)); p.Verdict != "no difference shown" || p.P != 1 || p.Difference.IsBounded() {
		t.Errorf("one block: %+v", p)
	}
}

// TestBlockMean: where every block is one value many times, the interval is
// Student's over the values once each: their mean is 1.622 and their standard
// deviation 0.71444, the 97.5 % quantile of four degrees of freedom 2.776445.
func TestBlockMean(t *testing.T) {
	var values []float64
	var blocks []int
	for b, v := range []float64{1.83, 0.50, 1.62, 2.48, 1.68} {
		for range 12 {
			values, blocks = append(values, v), append(blocks, b)
		}
	}
	m, deviation, n := blockMean(values, blocks)
	if n != 5 || math.Abs(m.Low-0.734909) > 1e-5 || math.Abs(m.High-2.509091) > 1e-5 {
		t.Errorf("%+v of %d blocks", m, n)
	}
	if p := significance(m.Value, deviation, n); math.Abs(p-0.0070976) > 1e-6 {
		t.Errorf("p %v", p)
	}
}

// TestInterval: whoever begins episodes twice as often learns nothing new, and
// is told nothing new: the same verdict, and an interval as wide within 20 %.
func TestInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const days = 60
	var gain, load [days]float64 // what every episode of a day has in common
	for d := range days {
		gain[d], load[d] = rng.NormFloat64()-.4, 6*rng.ExpFloat64()
	}
	var found []Paired
	for _, interval := range []int64{7200, 3600} {
		plan := samples.Plan{Episodes: int(days * 86400 / interval), Interval: interval}
		var a, b []float64
		var reactive []Played
		for i := range plan.Episodes {
			at := plan.Submit(i)
			day := at / 86400
			a, b = append(a, load[day]+gain[day]), append(b, load[day])
			reactive = append(reactive, Played{Outcome: chain.Outcome{SuccStart: at + 50*3600}})
		}
		found = append(found, Compare(a, b, Blocks(plan, reactive)))
	}
	if r := found[1].Difference.Width() / found[0].Difference.Width(); r < .8 || r > 1.25 || found[0].Verdict != found[1].Verdict || found[0].Blocks != mostBlocks {
		t.Errorf("every two hours %+v, every hour %+v", found[0], found[1])
	}
}

func TestWriteLog(t *testing.T) {
	p := outcome(1.5)
	p.PredEnd, p.SuccStart, p.Submitted = 1_670_000_000, 1_670_005_400, 1_669_990_000
	p.Decided = policy.Decision{Submit: true, Expected: uncertainty.Point(-0.25), Expects: true}
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

// TestPlay: the workers do not matter, and no policy beats the oracle.
func TestPlay(t *testing.T) {
	jobs, err := synth.Default().Generate(t.Context(), synth.Settings{Days: 24, Start: 1_670_000_000, NodeHoursPerDay: .9 * 40 * 24, MaxNodes: 40, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 40}, Rules: cluster.Defaults(cluster.Slurm)})
	if err != nil {
		t.Fatal(err)
	}
	plan := samples.Plan{Episodes: 17, Interval: 6 * 3600, Start: 1_670_000_000 + 10*86400, History: 9 * 86400, Service: chain.Service{Nodes: 4, Limit: 12 * 3600}}
	cost := chain.Cost{Overlap: 1}
	play := func(p Player, workers int) []Played {
		played, err := Episodes{Workload: w, Plan: plan, Workers: workers}.Play(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return played[0]
	}
	if testing.Short() {
		plan.Episodes = 5
	}
	oracle := play(Oracle(cost), 2)
	policies := []policy.Policy{policy.Fixed{}, policy.Average{}, policy.Quantile{Q: .8}, policy.Fixed{LeadHours: math.Inf(1)}, policy.QueueForecast{}}
	together, err := Episodes{Workload: w, Plan: plan, Workers: 2}.Play(t.Context(), With(policies...))
	if err != nil {
		t.Fatal(err)
	}
	for n, p := range policies {
		one := play(With(p), 1)
		if diff := cmp.Diff(one, together[n]); diff != "" {
			t.Errorf("%T: alone and with others differ: %s", p, diff)
		}
		if diff := cmp.Diff(one, play(With(p), 3)); diff != "" {
			t.Errorf("%T: one worker and three differ: %s", p, diff)
		}
		for i := range one {
			if cost.CostOf(one[i].Outcome) < cost.CostOf(oracle[i].Outcome) {
				t.Errorf("%T beats the oracle in episode %d: %+v, %+v", p, i, one[i].Outcome, oracle[i].Outcome)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Episodes{Workload: w, Plan: plan}).Play(ctx, With(policy.Fixed{})); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	plan.Interval = 0
	if _, err := (Episodes{Workload: w, Plan: plan}).Play(t.Context(), With(policy.Fixed{})); !errors.Is(err, samples.ErrPlan) {
		t.Errorf("error %v", err)
	}
}
