package perfmodel

import "math"

// placeLaw is the task that its thread created at the same place in the
// iteration before: right where each object has a load of its own and no size
// tells which object a task is of.
type placeLaw struct{}

func newPlace(*Entry) law { return placeLaw{} }

func (placeLaw) momentary()                              {}
func (placeLaw) learn(*Footprint, Moment, float64, bool) {}
func (placeLaw) fit()                                    {}
func (placeLaw) forget()                                 {}
func (placeLaw) answer(_ *Footprint, m Moment) float64 {
	if !(m.Same > 0) {
		return math.NaN()
	}
	return math.Log(m.Same)
}
