package model

import (
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
)

// view holds the model's inputs: the summary of a history, and with forecast the queue's own
// predictions.
type view struct{ forecast bool }

// forecastNames are the features that a forecast adds.
var forecastNames = []string{"forecast_full_hours", "forecast_part_hours", "forecast_full_less_remaining_hours"}

// names returns the names of the features in order.
func (v view) names() []string {
	if v.forecast {
		return append(SummaryNames(), forecastNames...)
	}
	return SummaryNames()
}

// row returns the features of a sample that was loaded with [Reduce].
func (v view) row(s *samples.Sample) []float64 {
	x := Summary(s.X, s.Decision, s.MeanWait)
	if v.forecast {
		x = withForecast(x, s.ForecastFull, s.ForecastPart, float64(s.PredEnd-s.Decision))
	}
	return x
}

// features returns the features of a state.
func (v view) features(s *policy.State) ([]float64, error) {
	tensor := make([]float64, samples.Steps*samples.Features)
	s.History.Tensor(tensor)
	x := Summary(Reduce(tensor), s.Now, s.MeanWait())
	if !v.forecast {
		return x, nil
	}
	f, err := s.Forecast()
	if err != nil {
		return nil, err
	}
	return withForecast(x, f[0], f[1], s.RemainingSeconds()), nil
}

func withForecast(x []float64, full, part, remaining float64) []float64 {
	return append(x, full/3600, part/3600, (full-remaining)/3600)
}
