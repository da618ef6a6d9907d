package perfmodel

import "math"

// powerModel answers by the entry's power law, along which its window is sorted.
type powerModel struct{ e *Entry }

func newPower(e *Entry) law { return powerModel{e} }

func (powerModel) learn(*Footprint, Moment, float64, bool) {}
func (powerModel) fit()                                    {}
func (powerModel) forget()                                 {}
func (l powerModel) answer(f *Footprint, _ Moment) float64 { return l.e.power.log(f.x) }

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
	distance := math.Abs(l.log(m.mean[:l.width]) - other.log(m.mean[:l.width]))
	for i := range l.width {
		distance += 3 * math.Abs(l.b[i]-other.b[i]) * math.Sqrt(m.co[i][i]/m.weight)
	}
	return distance < 0.002
}

func (l *powerLaw) log(x []float64) float64 {
	v := l.at
	for i := range min(l.width, len(x)) {
		v += l.b[i] * (x[i] - l.mean[i])
	}
	return v
}
