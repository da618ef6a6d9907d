package neural

import (
	"errors"
	"math"
	"testing"

	"github.com/foretime/foretime/shared/regression"
)

// TestTrainingLimits sets the documented defaults, and refuses what lies beyond a limit.
func TestTrainingLimits(t *testing.T) {
	got, err := Training{}.withDefaults()
	if err != nil || got.Epochs != 500 || got.Batch != 32 || got.Patience != 50 || got.LearningRate != 0.003 || got.HeldOut != 0.2 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, tt := range []struct {
		training Training
		ok       bool
	}{
		{Training{Epochs: 1, Batch: 1, Patience: 1, LearningRate: 1e-9, HeldOut: 0.001}, true}, {Training{HeldOut: 0.999}, true},
		{Training{Epochs: -1}, false}, {Training{Batch: -1}, false}, {Training{Patience: -1}, false}, {Training{LearningRate: -1e-9}, false},
		{Training{LearningRate: math.Inf(1)}, false}, {Training{HeldOut: 1}, false}, {Training{HeldOut: -0.1}, false}, {Training{HeldOut: math.NaN()}, false},
	} {
		if _, err := tt.training.withDefaults(); (err == nil) != tt.ok || err != nil && !errors.Is(err, regression.ErrSetting) {
			t.Errorf("%+v: %v", tt.training, err)
		}
	}
	for _, a := range []mixture{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}} {
		if err := a.check(); !errors.Is(err, regression.ErrSetting) {
			t.Errorf("%+v: %v", a, err)
		}
	}
	if err := (mixture{1, 1, 1}).check(); err != nil {
		t.Error(err)
	}
}

// TestRowsHeldOut holds out a rounded fraction, at least one row, and leaves at least two.
func TestRowsHeldOut(t *testing.T) {
	for _, tt := range []struct {
		rows int
		held float64
		want int
	}{{10, 0.2, 2}, {10, 0.24, 2}, {10, 0.26, 3}, {10, 0.01, 1}, {10, 0.99, 8}} {
		s := regression.Samples{Features: 1}
		for i := range tt.rows {
			s.X, s.Y = append(s.X, float64(i)), append(s.Y, float64(i%3))
		}
		n, err := Mixture{Experts: 1, Hidden: 1, Gate: 1, Training: Training{Epochs: 1, HeldOut: tt.held}}.Fit(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if r := n.Report(); r.HeldOutRows != tt.want || r.Rows != tt.rows-tt.want || n.batch != tt.rows-tt.want || r.Epochs != 1 || r.BestEpoch != 1 || len(n.Warnings()) != 1 {
			t.Errorf("%+v: %+v, batch %d, %v", tt, r, n.batch, n.Warnings())
		}
		if _, err := (Mixture{Training: Training{Epochs: 1}}).Fit(t.Context(), s.Select([]int{0, 1, 2, 3, 4, 5, 6, 7, 8})); !errors.Is(err, regression.ErrTooFew) {
			t.Errorf("nine rows: %v", err)
		}
	}
}

// TestScalingByHand centers by the mean and scales by the deviation of the given rows.
func TestScalingByHand(t *testing.T) {
	s := regression.Samples{Features: 2, X: []float64{1, 7, 3, 7, 8, 7, 999, 9}, Y: []float64{10, 20, 60, 999}}
	sc, warnings := newScaling(s, []int{0, 1, 2})
	deviation := math.Sqrt((9.0 + 1 + 16) / 3)
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }
	if !near(sc.Center[0], 4) || !near(sc.Scale[0], deviation) || sc.Center[1] != 7 || sc.Scale[1] != 1 || !near(sc.TargetCenter, 30) || !near(sc.TargetScale, math.Sqrt(1400.0/3)) {
		t.Errorf("%+v", sc)
	}
	if len(warnings) != 1 || !errors.Is(warnings[0], regression.ErrConstant) {
		t.Errorf("%v", warnings)
	}
	out := make([]float32, 2)
	if sc.row(out, []float64{8, 9}); out[0] != float32(4/sc.Scale[0]) || out[1] != 2 || sc.target(30) != 0 || !near(sc.value(1), 30+sc.TargetScale) || sc.target(30+sc.TargetScale) != 1 {
		t.Errorf("%v", out)
	}
	equal, _ := newScaling(regression.Samples{Features: 1, X: []float64{1, 2}, Y: []float64{5, 5}}, []int{0, 1})
	if equal.TargetScale != 1 || equal.TargetCenter != 5 {
		t.Errorf("%+v", equal)
	}
}
