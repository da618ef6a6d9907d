package linear

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/shared/regression"
)

// Reference: scipy 1.17.1, scipy.stats.theilslopes(dist, speed, method="joint").
func TestTheilSen(t *testing.T) {
	m, err := TheilSen{}.Fit(context.Background(), cars)
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, "cars", m, []float64{-15.666666666666664, 3.6666666666666665}, 1e-14)
}

// Of 600 samples, 20,000 random pairs find the slope as all pairs do.
func TestTheilSenDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	s := regression.Samples{Features: 1}
	for range 600 {
		x := rng.Float64()
		s.X, s.Y = append(s.X, x), append(s.Y, 1+2*x+0.1*rng.NormFloat64())
	}
	all, err := TheilSen{}.Fit(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	some, err := TheilSen{MaxPairs: 20_000, Seed: 1}.Fit(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	close(t, "slope", some.Coefficients[0], all.Coefficients[0], 0.01)
	if again, _ := (TheilSen{MaxPairs: 20_000, Seed: 1}).Fit(context.Background(), s); again.Coefficients[0] != some.Coefficients[0] {
		t.Error("the same seed gave another slope")
	}
}
