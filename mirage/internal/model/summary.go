package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
)

// Features of a snapshot that are constant 0, because a pending job has not
// run: positions 12 to 16 of samples.Columns.
const (
	idleFrom = 12
	idleTo   = 17
	queue    = 34 // features of the queue in a snapshot
)

// changing are the positions in a snapshot whose changes a summary holds:
// jobs, nodes, median and greatest age of the pending; jobs, nodes, median
// wait and median elapsed time of the running.
var changing = []int{0, 1, 9, 11, 17, 18, 26, 31}

// spans are the times, in steps of ten minutes, over which changes and means
// are taken: one hour, six, and all but a day.
var spans = []int{6, 36, samples.Steps - 1}

// SummaryNames returns the names of a summary's features.
func SummaryNames() []string {
	columns := samples.Columns()
	var names []string
	for i, c := range columns[:queue] {
		if i < idleFrom || i >= idleTo {
			names = append(names, c)
		}
	}
	for _, s := range spans {
		for _, i := range changing {
			names = append(names, fmt.Sprintf("%s_change_%dmin", columns[i], s*10))
		}
	}
	for _, s := range spans {
		for _, i := range changing[:4] {
			names = append(names, fmt.Sprintf("%s_mean_%dmin", columns[i], s*10))
		}
	}
	return append(names,
		"pending_node_minutes", "predecessor_wait_seconds", "remaining_seconds",
		"service_nodes", "service_limit_minutes", "hour_sin", "hour_cos", "mean_wait_seconds")
}

// Reduce returns the part of a summary that comes from the history alone, which
// samples.Load may keep in place of the history. x is 144 rows of 42 features.
func Reduce(x []float64) []float64 {
	row := func(step int) []float64 { return x[step*samples.Features : (step+1)*samples.Features] }
	last := row(samples.Steps - 1)
	out := make([]float64, 0, 2*samples.Features) // more than a summary has
	out = append(out, last[:idleFrom]...)
	out = append(out, last[idleTo:queue]...)
	for _, s := range spans {
		before := row(samples.Steps - 1 - s)
		for _, i := range changing {
			out = append(out, last[i]-before[i])
		}
	}
	for _, s := range spans {
		for _, i := range changing[:4] {
			sum := 0.0
			for step := samples.Steps - s; step < samples.Steps; step++ {
				sum += row(step)[i]
			}
			out = append(out, sum/float64(s))
		}
	}
	limit := 0.0 // the mean of the quantiles approximates the mean limit
	for _, q := range last[2:7] {
		limit += q / 5
	}
	predecessor, successor := last[queue:queue+4], last[queue+4:]
	return append(out, last[1]*limit, predecessor[2], predecessor[0]*60-predecessor[3], successor[1], successor[0])
}

// Summary completes what Reduce made with what else is known at a decision:
// the time of day, as UTC, and the mean of the last hundred waits in seconds.
func Summary(reduced []float64, now int64, meanWaitSeconds float64) []float64 {
	angle := 2 * math.Pi * float64(((now%86400)+86400)%86400) / 86400
	return append(slices.Clip(reduced), math.Sin(angle), math.Cos(angle), meanWaitSeconds)
}

// featureNames returns the names of a model's features in order: the summary of a history,
// then the queue's own predictions.
func featureNames() []string {
	return append(SummaryNames(), "forecast_full_hours", "forecast_part_hours", "forecast_full_less_remaining_hours")
}

// sampleFeatures returns the features of a sample that was loaded with [Reduce].
func sampleFeatures(s *samples.Sample) []float64 {
	x := Summary(s.X, s.Decision, s.MeanWait)
	return withForecast(x, s.ForecastFull, s.ForecastPart, float64(s.PredEnd-s.Decision))
}

// stateFeatures returns the features of a state.
func stateFeatures(s *policy.State) ([]float64, error) {
	f, err := s.Forecast()
	if err != nil {
		return nil, err
	}
	tensor := make([]float64, samples.Steps*samples.Features)
	s.History.Tensor(tensor)
	return withForecast(Summary(Reduce(tensor), s.Now, s.MeanWait()), f[0], f[1], s.RemainingSeconds()), nil
}

func withForecast(x []float64, full, part, remaining float64) []float64 {
	return append(x, full/3600, part/3600, (full-remaining)/3600)
}
