package session

import (
	"github.com/foretime/foretime/chamtool/forecast"
	"github.com/foretime/foretime/chamtool/job"
)

// iterations forecasts the load of each iteration from those before, and keeps
// what it said.
type iterations struct {
	model  *forecast.Model
	refit  int       // loads at which it is fitted again
	next   float64   // forecast of the iteration under way; 0 where there is none
	said   []float64 // of the complete ones
	errors job.Errors
}

const (
	// fitsOn is how many of the last loads a fit stands on, and asksOn how many
	// one forecast.
	fitsOn, asksOn = 256, 32
)

// add takes the loads of all complete iterations, of which the last is new.
func (it *iterations) add(loads []float64) {
	it.said = append(it.said, it.next)
	it.errors.Add(it.next, loads[len(loads)-1])
	it.next = 0
	if len(loads) >= it.refit {
		m, err := forecast.Fit(last(loads, fitsOn), forecast.Options{})
		if err != nil {
			return // too few, or an iteration without a task
		}
		it.model, it.refit = m, len(loads)+max(1, len(loads)/4)
	}
	if y, err := it.model.Next(last(loads, asksOn)); err == nil {
		it.next = y
	}
}

func last(loads []float64, n int) []float64 { return loads[max(0, len(loads)-n):] }
