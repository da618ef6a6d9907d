package job

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// The fewer iterations, the wider the interval; one shows nothing.
func TestSavingOfIterations(t *testing.T) {
	for _, tt := range []struct {
		saved     []float64
		low, high float64
	}{
		{[]float64{1}, 0, 20},
		{[]float64{1, 2}, 0, 3 + 6.314}, // t of one degree of freedom, times sqrt(2) * 1/sqrt(2)
		{[]float64{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, 12, 18},
	} {
		s := saving(tt.saved, 20)
		if math.Abs(s.Low-tt.low) > 0.5 || math.Abs(s.High-tt.high) > 0.5 || s.Low > s.Seconds || s.Seconds > s.High {
			t.Errorf("%v: %+v, want %v to %v", tt.saved, s, tt.low, tt.high)
		}
	}
}
