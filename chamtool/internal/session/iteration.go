package session

import (
	"github.com/foretime/foretime/chamtool/internal/forecast"
	"github.com/foretime/foretime/chamtool/internal/summary"
)

// iterations forecasts the load of each iteration from those before, and keeps
// the forecasts.
type iterations struct {
	model     *forecast.Model // nil before two loads
	firstLoad float64         // the first load
	forecast  float64         // forecast of the iteration under way; 0 where there is none
	forecasts []float64       // of the complete ones
	errors    summary.Errors
}

// add takes the load of the iteration that is complete. One without a task is no
// load.
func (it *iterations) add(load float64) {
	it.forecasts = append(it.forecasts, it.forecast)
	it.errors.Add(it.forecast, load)
	switch {
	case it.model != nil:
		_ = it.model.Observe(load)
	case it.firstLoad > 0:
		it.model, _ = forecast.Fit([]float64{it.firstLoad, load}, forecast.Options{})
	default:
		it.firstLoad = load
	}
	if it.model != nil {
		it.forecast = it.model.Next()
	}
}
