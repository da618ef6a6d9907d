package runtime

import "testing"

// IEEE 754: ties to even; 65520 is half a step above the largest
func TestHalf(t *testing.T) {
	for v, want := range map[float32]uint16{
		0.5: 0x3800, -2: 0xc000, 1024: 0x6400, 65504: 0x7bff, 6.1035156e-5: 0x400, 5.9604645e-8: 1,
		1.00048828125: 0x3c00, 1.00146484375: 0x3c02, 65519: 0x7bff, 65520: 0x7c00, -1e10: 0xfc00, 2.9802322e-8: 0, 2.99e-8: 1,
	} {
		if got := ToFloat16(v); got != want {
			t.Errorf("%v: %#x, want %#x", v, got, want)
		}
	}
}
