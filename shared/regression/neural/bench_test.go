package neural

import (
	"context"
	"fmt"
	"testing"
)

func BenchmarkPredict(b *testing.B) {
	for _, hidden := range [][]int{{16}, {64, 64}} {
		s := friedman(100, 1)
		n, err := MLP{Hidden: hidden, Training: Training{Epochs: 1}}.Fit(context.Background(), s)
		if err != nil {
			b.Fatal(err)
		}
		scorer, err := n.Scorer()
		if err != nil {
			b.Fatal(err)
		}
		x := s.Row(0)
		b.Run(fmt.Sprintf("by=scorer/hidden=%v", hidden), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := scorer.Predict(x); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("by=network/hidden=%v", hidden), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := n.Predict(x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// One epoch of 1,000 rows.
func BenchmarkTrain(b *testing.B) {
	s := friedman(1250, 1)
	for _, batch := range []int{32, 128} {
		b.Run(fmt.Sprintf("rows=1000/hidden=64,64/batch=%d", batch), func(b *testing.B) {
			for b.Loop() {
				m := MLP{Training: Training{Epochs: 1, Batch: batch}}
				if _, err := m.Fit(context.Background(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
