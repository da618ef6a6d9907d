package perfmodel

import "math"

// ridgeModel fits a ridgeLaw to relative errors.
type ridgeModel struct {
	e      *Entry
	powers moments
	unit   float64 // of the sizes: the first total
	least  float64 // shortest run
	law    ridgeLaw
}

func newRidge(e *Entry) law { return &ridgeModel{e: e} }

func (l *ridgeModel) learn(f *Footprint, _ Moment, y float64, plain bool) {
	seconds := math.Exp(y)
	if l.unit == 0 {
		l.unit = math.Max(f.total, 1)
	}
	if l.least == 0 || seconds < l.least {
		l.least = seconds
	}
	if plain {
		x := ridgeFeatures(f.total, l.unit)
		l.powers.add(x[:], seconds, 1/(seconds*seconds))
	}
}

func (l *ridgeModel) fit() { l.law = fitRidge(&l.powers, l.least/2) }

func (l *ridgeModel) answer(f *Footprint, _ Moment) float64 {
	return math.Log(l.law.seconds(ridgeFeatures(f.total, l.unit)))
}

func (l *ridgeModel) forget() { l.powers, l.least = moments{}, 0 }

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
