package perfmodel

import "math"

// medianLaw is the plain median of all runs of equal sizes, whatever drifted:
// what every other model has to beat.
type medianLaw struct{ e *Entry }

func newMedian(e *Entry) law { return medianLaw{e} }

func (medianLaw) live()                                   {}
func (medianLaw) learn(*Footprint, Moment, float64, bool) {}
func (medianLaw) fit()                                    {}
func (medianLaw) forget()                                 {}

func (l medianLaw) answer(f *Footprint, _ Moment) float64 {
	if len(f.all) == 0 || f.era != l.e.era {
		return math.NaN()
	}
	return f.middleOfAll()
}
