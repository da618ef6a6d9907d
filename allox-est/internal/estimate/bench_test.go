package estimate

import (
	"math/rand/v2"
	"testing"
)

// What an estimate from a pair of samples costs.
func BenchmarkNew(b *testing.B) {
	s := scenarios[0]
	samples := s.sampled(rand.New(rand.NewPCG(1, 1)))
	for b.Loop() {
		if _, err := New(samples, cpu(simEpochs), Settings{}); err != nil {
			b.Fatal(err)
		}
	}
}
