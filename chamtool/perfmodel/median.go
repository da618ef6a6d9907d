package perfmodel

import "math"

// medianLaw is the plain median of the last runs of equal sizes: what every
// other model has to beat.
type medianLaw struct{ e *Entry }

func newMedian(e *Entry) law { return medianLaw{e} }

func (medianLaw) live()                                   {}
func (medianLaw) learn(*Footprint, Moment, float64, bool) {}
func (medianLaw) fit()                                    {}
func (medianLaw) forget()                                 {}

func (l medianLaw) answer(f *Footprint, _ Moment) float64 {
	mid, ok := f.median(l.e.epoch)
	if !ok {
		return math.NaN()
	}
	return mid
}
