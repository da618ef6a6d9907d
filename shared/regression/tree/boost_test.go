package tree

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/shared/regression"
)

// friedman draws samples of Friedman's first function (MARS, 1991, equation 61)
// with unit noise, on features in [0, 1); those beyond the fifth have no effect.
// The best possible RMSE is 1.
func friedman(rows, features int, missing float64, seed uint64) regression.Samples {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := regression.Samples{Features: features, X: make([]float64, rows*features), Y: make([]float64, rows)}
	for i := range rows {
		x := s.Row(i)
		for c := range x {
			x[c] = float64(float32(rng.Float64()))
		}
		s.Y[i] = 10*math.Sin(math.Pi*x[0]*x[1]) + 20*(x[2]-0.5)*(x[2]-0.5) + 10*x[3] + 5*x[4] + rng.NormFloat64()
		for c := range x {
			if missing > 0 && rng.Float64() < missing {
				x[c] = math.NaN()
			}
		}
	}
	return s
}

func rmse(t testing.TB, e *Ensemble, s regression.Samples) float64 {
	t.Helper()
	out := make([]float64, s.Len())
	if err := e.PredictAll(s.X, out, 1); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, v := range out {
		sum += (v - s.Y[i]) * (v - s.Y[i])
	}
	return math.Sqrt(sum / float64(len(out)))
}

func BenchmarkFit(b *testing.B) {
	for _, size := range []struct{ rows, features, rounds int }{{1200, 10, 145}, {100_000, 20, 100}, {1_000_000, 20, 100}} {
		if testing.Short() && size.rows > 100_000 {
			continue
		}
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("rows=%d/features=%d/rounds=%d/threads=%d", size.rows, size.features, size.rounds, threads), func(b *testing.B) {
				s := friedman(size.rows, size.features, 0, 1)
				b.ResetTimer()
				for range b.N {
					if _, err := (Boost{Rounds: size.rounds, Eta: 0.1, Threads: threads}).Fit(b.Context(), s); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkPredictAll(b *testing.B) {
	s := friedman(1_000_000, 20, 0, 1)
	train := friedman(20_000, 20, 0, 2)
	e, err := Boost{Rounds: 100, Eta: 0.1}.Fit(b.Context(), train)
	if err != nil {
		b.Fatal(err)
	}
	out := make([]float64, s.Len())
	b.ResetTimer()
	for range b.N {
		if err := e.PredictAll(s.X, out, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*s.Len())/b.Elapsed().Seconds(), "rows/s")
}
