package perfmodel

import "math"

// powerLaw is log t = at + Σ b·(x - mean), x the features of the sizes.
type powerLaw struct {
	width int
	mean  [maxFeatures]float64
	b     [maxFeatures]float64
	at    float64
	fixed bool // no size varied enough: the law is a constant
}

// minSpread is how far the logarithm of a size must spread, as a standard
// deviation, for its exponent to mean anything: sizes that differ by a tenth
// from end to end.
const minSpread = 0.025

func fitPower(m *moments, width int) powerLaw {
	l := powerLaw{width: width, at: m.mean[width]}
	copy(l.mean[:width], m.mean[:width])
	b, ok := m.solve(width, 1e-4, minSpread)
	l.b, l.fixed = b, !ok
	return l
}

// near reports whether two laws answer alike, to a fifth of a percent within
// three standard deviations of the features' means.
func (l *powerLaw) near(other *powerLaw, m *moments) bool {
	if l.width != other.width || l.fixed != other.fixed || m.weight <= 0 {
		return false
	}
	apart := math.Abs(l.log(m.mean[:l.width]) - other.log(m.mean[:l.width]))
	for i := range l.width {
		apart += 3 * math.Abs(l.b[i]-other.b[i]) * math.Sqrt(m.co[i][i]/m.weight)
	}
	return apart < 0.002
}

func (l *powerLaw) log(x []float64) float64 {
	v := l.at
	for i := range min(l.width, len(x)) {
		v += l.b[i] * (x[i] - l.mean[i])
	}
	return v
}

// ridgeLaw is t = at + Σ b·(x - mean), x the scaled powers of the total size.
type ridgeLaw struct {
	mean, b [3]float64
	at      float64
	low     float64 // no answer below it
}

// ridgeFeatures are s, s^1.5 and s² with s in units of the entry's first size.
func ridgeFeatures(total, unit float64) [3]float64 {
	s := total / unit
	return [3]float64{s, s * math.Sqrt(s), s * s}
}

func fitRidge(m *moments, low float64) ridgeLaw {
	l := ridgeLaw{at: m.mean[3], low: low}
	copy(l.mean[:], m.mean[:3])
	if b, ok := m.solve(3, 1e-5, 0); ok {
		copy(l.b[:], b[:3])
	}
	return l
}

func (l *ridgeLaw) seconds(x [3]float64) float64 {
	v := l.at
	for i := range x {
		v += l.b[i] * (x[i] - l.mean[i])
	}
	if !(v > l.low) {
		return l.low
	}
	return v
}
