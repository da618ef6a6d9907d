package perfmodel

import "math"

// speedLaw is history, moved by as much as the core's frequency differs from that
// of the footprint's runs: how far times follow it is learned, from all (a task
// that computes) to not at all (one that waits for memory).
type speedLaw struct {
	e        *Entry
	sxx, sxy float64 // of the frequency and the miss of history, both logarithms
}

func newSpeed(e *Entry) law { return &speedLaw{e: e} }

// steadyClock is the sum of squares of the frequency's logarithm below which it has
// told nothing: eight runs three percent apart.
const steadyClock = 8 * 0.03 * 0.03

func (*speedLaw) momentary() {}
func (*speedLaw) fit()       {}
func (l *speedLaw) forget()  { l.sxx, l.sxy = 0, 0 }

func (l *speedLaw) learn(f *Footprint, m Moment, y float64, _ bool) {
	if !(m.MHz > 0) {
		return
	}
	x := math.Log(m.MHz)
	if f.clocked == 0 {
		f.mhz = x
	}
	away := x - f.mhz
	if f.fit == l.e.fits && l.e.fits > 0 { // history has answered
		const keep = 1 - 1.0/memory
		l.sxx = keep*l.sxx + away*away
		l.sxy = keep*l.sxy + away*(f.answers[l.e.model.history]-y)
	}
	f.clocked++
	f.mhz += away / float64(min(f.clocked, recent))
}

func (l *speedLaw) answer(f *Footprint, m Moment) float64 {
	if !(m.MHz > 0) || f.clocked == 0 || l.sxx < steadyClock {
		return math.NaN()
	}
	follows := min(1, max(0, l.sxy/l.sxx))
	return f.answers[l.e.model.history] - follows*(math.Log(m.MHz)-f.mhz)
}
