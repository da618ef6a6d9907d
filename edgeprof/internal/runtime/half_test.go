package runtime

import (
	"math"
	"testing"
)

// Every binary16 comes back as it was, and others go to the nearest.
func TestHalf(t *testing.T) {
	for bits := range 1 << 16 {
		h := uint16(bits)
		if v := FromFloat16(h); math.IsNaN(float64(v)) {
			if !math.IsNaN(float64(FromFloat16(ToFloat16(v)))) {
				t.Errorf("%#x is no NaN again", h)
			}
		} else if got := ToFloat16(v); got != h && v != 0 {
			t.Fatalf("%#x is %v, and then %#x", h, v, got)
		}
	}
	// IEEE 754: ties to even; 65520 is half a step above the largest
	for v, want := range map[float32]uint16{1.00048828125: 0x3c00, 1.00146484375: 0x3c02, 65519: 0x7bff, 65520: 0x7c00, -1e10: 0xfc00, 2.9802322e-8: 0, 2.99e-8: 1} {
		if got := ToFloat16(v); got != want {
			t.Errorf("%v: %#x, want %#x", v, got, want)
		}
	}
}
