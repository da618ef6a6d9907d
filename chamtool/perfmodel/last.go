package perfmodel

import "math"

// lastLaw is the last run of equal sizes: right where each object has a load of
// its own that changes slowly.
type lastLaw struct{ e *Entry }

func newLast(e *Entry) law { return lastLaw{e} }

func (lastLaw) live()                                   {}
func (lastLaw) learn(*Footprint, Moment, float64, bool) {}
func (lastLaw) fit()                                    {}
func (lastLaw) forget()                                 {}

func (l lastLaw) answer(f *Footprint, _ Moment) float64 {
	if f.runs == 0 || f.epoch != l.e.epoch {
		return math.NaN()
	}
	return f.last[(f.runs-1)%recent]
}
