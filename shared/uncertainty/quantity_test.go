package uncertainty_test

import (
	"math"
	"testing"

	"github.com/foretime/foretime/shared/uncertainty"
)

// TestQuantity checks units and digits of times as people read them.
func TestQuantity(t *testing.T) {
	for _, tt := range []struct {
		p    prediction
		want string
	}{
		{uncertainty.Point(0), "0 s"},
		{uncertainty.Point(0.5), "500 ms"},
		{uncertainty.Point(2.3456e-6), "2.35 µs"},
		{uncertainty.Point(1e-9), "0.00100 µs"},
		{uncertainty.Point(119), "119 s"},
		{uncertainty.Point(120), "2.00 min"},
		{uncertainty.Point(3600), "1.00 h"},
		{uncertainty.Point(47 * 3600), "47.0 h"},
		{uncertainty.Point(48 * 3600), "2.00 d"},
		{prediction{Value: 46.9, Low: 36.9, High: 56.8, Level: 0.95}, "46.9 s, 36.9 to 56.8 (95 %)"},
		{prediction{Value: 46.9, Low: 36.9, High: 56.8, Level: 0.57}, "46.9 s, 36.9 to 56.8 (57 %)"},
		{prediction{Value: 46.9, Low: 36.9, High: 56.8, Level: 0.999}, "46.9 s, 36.9 to 56.8 (99.9 %)"},
		{prediction{Value: 46.91, Low: 30, High: 90}, "47 s, 30 to 90"},
		{prediction{Value: 50.123456, Low: 50.123455, High: 90}, "50.12 s, 50.12 to 90.00"},
		{prediction{Value: 5, Low: 5, High: 5}, "5.00 s, 5.00 to 5.00"},
		{prediction{Value: 3, Low: 1, High: math.Inf(1)}, "3.00 s"},
	} {
		if got := uncertainty.Seconds(tt.p).String(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.p, got, tt.want)
		}
	}
}
