package model

import (
	"math"
	"slices"

	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
)

// featureNames returns the names of a model's features in order: the summary of a history,
// the time of day, as UTC, the mean of the last hundred waits, then the queue's own predictions.
func featureNames() []string {
	return append(samples.SummaryColumns(), "hour_sin", "hour_cos", "mean_wait_seconds",
		"forecast_full_hours", "forecast_part_hours", "forecast_full_less_remaining_hours")
}

// features returns a model's features from a summary and what else is known at a decision:
// the mean wait, the queue's own predictions and the predecessor's remaining time, in seconds.
func features(summary []float64, now int64, meanWait, full, part, remaining float64) []float64 {
	angle := 2 * math.Pi * float64(now%86400) / 86400
	return append(slices.Clip(summary), math.Sin(angle), math.Cos(angle), meanWait, full/3600, part/3600, (full-remaining)/3600)
}

// sampleFeatures returns the features of a sample.
func sampleFeatures(s *samples.Sample) []float64 {
	return features(s.X, s.Decision, s.MeanWait, s.ForecastFull, s.ForecastPart, float64(s.PredEnd-s.Decision))
}

// stateFeatures returns the features of a state.
func stateFeatures(s *policy.State) ([]float64, error) {
	f, err := s.Forecast()
	if err != nil {
		return nil, err
	}
	return features(s.History.Summary(), s.Now, s.MeanWait(), f[0], f[1], s.RemainingSeconds()), nil
}
