package uncertainty

import (
	"math"
	"testing"
)

// The interval's ends are its quantiles, the value its median; what is unknown is said.
func TestExceeds(t *testing.T) {
	inf := math.Inf(1)
	p := Prediction{Value: 100, Low: 50, High: 400, Level: 0.95}
	for _, tt := range []struct {
		name  string
		p     Prediction
		y     float64
		want  float64
		known bool
	}{
		{"median", p, 100, 0.5, true},
		{"high", p, 400, 0.025, true},
		{"low", p, 50, 0.975, true},
		{"one standard deviation above", p, 100 * math.Pow(4, 1/1.959963985), 0.158655, true}, // R: pnorm(1, lower.tail=FALSE)
		{"nothing left", p, 0, 1, true},
		{"low end at 0, normal", Prediction{Value: 100, Low: 0, High: 200, Level: 0.9}, 50, 0.794578, true}, // R: pnorm(qnorm(0.95)/2)
		{"no upper end", Prediction{Value: 100, Low: 50, High: inf, Level: 0.95}, 200, 0, false},
		{"no upper end, below the median", Prediction{Value: 100, Low: 50, High: inf, Level: 0.95}, 50, 0.975, true},
		{"no level", Prediction{Value: 100, Low: 50, High: 200}, 150, 0, false},
		{"no width, above", Prediction{Value: 100, Low: 100, High: 100, Level: 0.95}, 101, 0, true},
		{"no width, below", Prediction{Value: 100, Low: 100, High: 100, Level: 0.95}, 99, 1, true},
	} {
		if got, known := tt.p.Exceeds(tt.y); known != tt.known || !(math.Abs(got-tt.want) <= 1e-5) {
			t.Errorf("%s: %v, %v, want %v, %v", tt.name, got, known, tt.want, tt.known)
		}
	}
}
