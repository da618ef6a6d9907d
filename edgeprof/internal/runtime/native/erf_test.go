package native

import (
	"math"
	"testing"
)

func TestErf(t *testing.T) {
	table := erfTable()
	for x := -6.; x < 6; x += 1e-4 {
		got, want := float64(table.value(float32(x))), math.Erf(float64(float32(x)))
		if math.Abs(got-want) > 2.5e-7 || math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Fatalf("erf(%v) = %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{math.Inf(1), math.Inf(-1), 0, math.MaxFloat32} {
		if got, want := table.value(float32(x)), float32(math.Erf(x)); got != want {
			t.Errorf("erf(%v) = %v, want %v", x, got, want)
		}
	}
	if got := table.value(float32(math.NaN())); got == got {
		t.Errorf("erf(NaN) = %v", got)
	}
}
