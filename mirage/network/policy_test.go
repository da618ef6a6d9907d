package network

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/mirage/model"
	"github.com/foretime/foretime/mirage/policy"
	"github.com/foretime/foretime/mirage/samples"
)

// TestForecastPolicy: where only the forecast tells how long the wait will be,
// a policy that sees it does far better than one that does not.
func TestForecastPolicy(t *testing.T) {
	set := pairs(150, model.Reduce)
	for i := range set.Samples {
		s := &set.Samples[i]
		s.ForecastFull = float64(s.SuccStart - s.Decision)
		s.ForecastPart = s.ForecastFull
		for f := range s.X { // the queue does not show; what remains does
			if name := model.SummaryNames()[f]; name != "remaining_seconds" {
				s.X[f] = 0
			}
		}
	}
	for _, k := range []string{"policy", "dqn"} {
		var cost [2]float64
		for i, forecast := range []bool{false, true} {
			_, r, err := model.Train(t.Context(), k, learner(t, k), []*samples.Set{set}, model.Settings{OverlapCost: 1, Seed: 1, Forecast: forecast})
			if err != nil {
				t.Fatal(err)
			}
			cost[i] = r.CostHours
		}
		if cost[1] > 0.75*cost[0] {
			t.Errorf("%s: %.2f h blind, %.2f h with forecasts", k, cost[0], cost[1])
		}
	}
}

// pairs returns episodes of thirteen probes, four hours apart, in which the
// successor waits an hour for each five pending jobs.
func pairs(n int, reduce func([]float64) []float64) *samples.Set {
	rng := rand.New(rand.NewPCG(3, 4))
	set := &samples.Set{}
	for e := range n {
		begin := int64(1_670_000_000 + e*4*3600)
		pending := math.Round(rng.Float64() * 100)
		for probe := range 13 {
			x := make([]float64, samples.Steps*samples.Features)
			for i := range samples.Steps {
				row := x[i*samples.Features:]
				row[0], row[17] = pending, 70
				row[34], row[35], row[37] = 2880, 1, float64(probe*4*3600)
				row[38], row[39] = 2880, 1
			}
			s := samples.Sample{Episode: e, Probe: probe, Decision: begin + int64(probe*4*3600), PredStart: begin, PredEnd: begin + 48*3600, X: reduce(x)}
			s.SuccStart = s.Decision + int64(pending/5*3600)
			s.Reward = s.SuccStart - s.PredEnd
			set.Samples = append(set.Samples, s)
		}
	}
	return set
}

// TestTrainPolicy: what is learnt costs far less than never submitting, on
// episodes of its own.
func TestTrainPolicy(t *testing.T) {
	set := pairs(150, model.Reduce)
	for _, k := range []string{"policy", "dqn"} {
		t.Run(k, func(t *testing.T) {
			m, r, err := model.Train(t.Context(), k, learner(t, k), []*samples.Set{set}, model.Settings{OverlapCost: 1, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			// Never submitting costs ten hours on average, the best probe one.
			if r.CostHours > 3 {
				t.Errorf("%+v", r)
			}
			reloaded(t, m)
		})
	}
	if _, _, err := model.Train(t.Context(), "dqn", learner(t, "dqn"), []*samples.Set{pairs(3, model.Reduce)}, model.Settings{OverlapCost: 1}); !errors.Is(err, model.ErrSamples) {
		t.Errorf("three episodes: %v", err)
	}
}

// TestNetGradient compares gradients with finite differences.
func TestNetGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	n := newNet(rng, 3, 5, 2)
	x := []float64{0.5, -1, 2}
	loss := func() float64 { o := n.forward(x); return o[0]*o[0]/2 + 3*o[1] }
	out := n.forward(x)
	n.accumulate(x, []float64{out[0], 3})
	for i := range n.Weights {
		const h = 1e-6
		w := n.Weights[i]
		n.Weights[i] = w + h
		up := loss()
		n.Weights[i] = w - h
		down := loss()
		n.Weights[i] = w
		if want := (up - down) / (2 * h); math.Abs(n.gradient[i]-want) > 1e-5 {
			t.Errorf("weight %d: gradient %v, want %v", i, n.gradient[i], want)
		}
	}
}

func learner(t *testing.T, name string) model.Learner {
	t.Helper()
	l, err := Learners().Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// reloaded saves a model, reads it back, and wants the same answers.
func reloaded(t *testing.T, m *model.Model) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := model.Load(path, Learners())
	if err != nil {
		t.Fatal(err)
	}
	for pending := range 20 {
		s := &policy.State{Now: 1_670_000_000, PredEnd: 1_670_000_000 + 5*3600}
		for range samples.Steps {
			var moment samples.Moment
			moment.Snapshot[0], moment.Snapshot[17] = float64(5*pending), 70
			s.History.Moments = append(s.History.Moments, moment)
		}
		s.History.Predecessor = [4]float64{2880, 1, 0, 43 * 3600}
		s.History.Successor = [4]float64{2880, 1, 0, 0}
		a, err1 := m.WaitHours(s)
		b, err2 := got.WaitHours(s)
		if err1 != nil || err2 != nil || a != b {
			t.Fatalf("%v, %v; read back %v, %v", a, err1, b, err2)
		}
	}
}
