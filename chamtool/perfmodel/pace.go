package perfmodel

// paceLaw is history, times how much slower the last runs of all sizes were than
// history said: when the machine changes its speed, sizes that have not run since
// are known as well.
type paceLaw struct {
	e        *Entry
	slowdown slowdown
}

func newPace(e *Entry) law { return &paceLaw{e: e} }

func (*paceLaw) momentary() {}
func (*paceLaw) fit()       {}
func (l *paceLaw) forget()  { l.slowdown = slowdown{} }

func (l *paceLaw) learn(f *Footprint, _ Moment, y float64, _ bool) {
	if f.fit == l.e.fits && l.e.fits > 0 { // history has answered
		l.slowdown.add(y - f.answers[l.e.model.history])
	}
}

func (l *paceLaw) answer(f *Footprint, _ Moment) float64 {
	return f.answers[l.e.model.history] + l.slowdown.middle()
}
