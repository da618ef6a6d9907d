package linear

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Reference: scipy 1.17.1, scipy.stats.theilslopes(dist, speed, 0.95 and 0.9,
// method="joint").
func TestTheilSen(t *testing.T) {
	m, err := TheilSen{}.Fit(context.Background(), cars)
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, "cars", m, []float64{-15.666666666666664, 3.6666666666666665}, 1e-14)
	for level, want := range map[float64]uncertainty.Prediction{
		0.95: {Value: 3.6666666666666665, Low: 2.933333333333333, High: 4.5},
		0.9:  {Value: 3.6666666666666665, Low: 3, High: 4.285714285714286},
	} {
		got, err := TheilSen{}.Slope(cars, level)
		if err != nil {
			t.Fatal(err)
		}
		close(t, "slope", got.Value, want.Value, 1e-14)
		close(t, "low", got.Low, want.Low, 1e-14)
		close(t, "high", got.High, want.High, 1e-14)
	}
	if _, err := (TheilSen{}).Slope(cars, 1); !errors.Is(err, regression.ErrSetting) {
		t.Errorf("level 1: %v", err)
	}
}

// Of 600 samples, 20,000 random pairs find the slope as all pairs do, and the
// interval keeps its width.
func TestTheilSenDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	s := regression.Samples{Features: 1}
	for range 600 {
		x := rng.Float64()
		s.X, s.Y = append(s.X, x), append(s.Y, 1+2*x+0.1*rng.NormFloat64())
	}
	all, err := TheilSen{}.Slope(s, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	some, err := TheilSen{MaxPairs: 20_000, Seed: 1}.Slope(s, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	close(t, "slope", some.Value, all.Value, 0.01)
	close(t, "width", some.High-some.Low, all.High-all.Low, 0.25)
	if again, _ := (TheilSen{MaxPairs: 20_000, Seed: 1}).Slope(s, 0.95); again != some {
		t.Error("the same seed gave another slope")
	}
}
