package model

import "github.com/foretime/foretime/mirage/samples"

// View is what a kind of model sees of a history: reduce of the history, then
// complete with the rest that is known. forecast adds the queue's own forecast
// to each of the steps that the view has. [Summaries] and [Sequences] are the
// two there are.
type View struct {
	reduce   func(x []float64) []float64
	complete func(reduced []float64, now int64, meanWaitSeconds float64) []float64
	columns  func() []string
	steps    int
	forecast bool
}

// forecastNames are the features that a forecast adds.
var forecastNames = []string{"forecast_full_hours", "forecast_part_hours", "forecast_full_less_remaining_hours"}

// Names are the names of what a view shows, in order.
func (v View) Names() []string {
	if v.forecast {
		return eachStep(v.steps, v.columns(), forecastNames)
	}
	return v.columns()
}

// Row is what a sample looks like.
func (v View) Row(s *samples.Sample) []float64 {
	x := v.complete(s.X, s.Decision, s.MeanWait)
	if v.forecast {
		x = v.withForecast(x, s.ForecastFull, s.ForecastPart, float64(s.PredEnd-s.Decision))
	}
	return x
}

func (v View) withForecast(x []float64, full, part, remaining float64) []float64 {
	return eachStep(v.steps, x, []float64{full / 3600, part / 3600, (full - remaining) / 3600})
}

// eachStep puts more behind each of the equal steps that x consists of.
func eachStep[T any](steps int, x, more []T) []T {
	width := len(x) / steps
	out := make([]T, 0, len(x)+steps*len(more))
	for step := range steps {
		out = append(out, x[step*width:(step+1)*width]...)
		out = append(out, more...)
	}
	return out
}

// Summaries shows the last snapshot, how it changed, and the predecessor.
func Summaries() View {
	return View{reduce: Reduce, complete: Summary, columns: SummaryNames, steps: 1}
}

// Sequences shows the day before, hour by hour.
func Sequences() View {
	return View{reduce: Pool, complete: func(x []float64, _ int64, _ float64) []float64 { return x }, columns: PoolNames, steps: PoolSteps}
}

// Reduce is what samples are to be loaded with for the view.
func (v View) Reduce(x []float64) []float64 { return v.reduce(x) }
