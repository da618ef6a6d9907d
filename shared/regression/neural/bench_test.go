package neural

import (
	"context"
	"testing"
)

func BenchmarkPredict(b *testing.B) {
	s := friedman(100, 1)
	n, err := Mixture{Training: Training{Epochs: 1}}.Fit(context.Background(), s)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := n.Predict(s.Row(0)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTrain trains one epoch of 1,000 rows.
func BenchmarkTrain(b *testing.B) {
	s := friedman(1250, 1)
	for b.Loop() {
		if _, err := (Mixture{Training: Training{Epochs: 1}}).Fit(context.Background(), s); err != nil {
			b.Fatal(err)
		}
	}
}
