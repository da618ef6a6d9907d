package linear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/shared/regression"
)

func noisy(rows, features int) regression.Samples {
	rng := rand.New(rand.NewPCG(1, 1))
	s := regression.Samples{Features: features}
	for range rows {
		y := rng.NormFloat64()
		for j := range features {
			v := rng.NormFloat64()
			s.X = append(s.X, v)
			y += float64(j+1) * v
		}
		s.Y = append(s.Y, y)
	}
	return s
}

func BenchmarkSolve(b *testing.B) {
	for name, f := range map[string]solver{"ols": OLS{}, "nnls": NNLS{}} {
		for _, rows := range []int{100, 1000} {
			s := noisy(rows, 8)
			b.Run(fmt.Sprintf("model=%s/rows=%d/features=8", name, rows), func(b *testing.B) {
				for b.Loop() {
					if _, err := f.Fit(context.Background(), s); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkPredict(b *testing.B) {
	s := noisy(100, 8)
	m, err := OLS{}.Fit(context.Background(), s)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Predict(s.Row(0)); err != nil {
			b.Fatal(err)
		}
	}
}
