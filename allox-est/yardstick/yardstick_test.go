package yardstick

import "testing"

func TestMeasure(t *testing.T) {
	for range 3 {
		if s := Measure(); s <= 0 {
			t.Errorf("took %v s", s)
		}
	}
}

func BenchmarkMeasure(b *testing.B) {
	var sum float64
	for b.Loop() {
		sum += Measure()
	}
	b.ReportMetric(1000*sum/float64(b.N), "cpu-ms/op")
}
