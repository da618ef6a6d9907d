package collection

import (
	"context"
	"math"
	goruntime "runtime"
	"slices"

	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/edgeprof/runtime"
	"github.com/foretime/foretime/shared/stats"
)

// loadedSeconds is how long inferences under one load are timed, as the idle
// machine would take for them: many slices of a scheduler's.
const loadedSeconds = 0.15

// Slowdowns times a model beside others, 1 up to most tasks that keep a core busy
// each, and returns the median seconds of its inferences alone, and by how many
// times longer they are beside each number of others. Rounds take turns, the median
// of which counts.
func Slowdowns(ctx context.Context, session runtime.Session, most, rounds int) (alone float64, factors []float64, err error) {
	inputs := Inputs(session.Inputs())
	warm, err := session.Time(ctx, inputs, 5)
	if err != nil {
		return 0, nil, err
	}
	runs := int(max(3, min(2000, math.Ceil(loadedSeconds/max(1e-6, slices.Min(warm))))))
	medians := make([][]float64, most+1)
	for range rounds {
		for others := range medians {
			median, err := beside(ctx, session, inputs, runs, others)
			if err != nil {
				return 0, nil, err
			}
			medians[others] = append(medians[others], median)
		}
	}
	alone = stats.Median(medians[0])
	for _, beside := range medians[1:] {
		factors = append(factors, stats.Median(beside)/alone)
	}
	return alone, factors, nil
}

// beside is the median time of inferences while others run.
func beside(ctx context.Context, session runtime.Session, inputs map[string]runtime.Tensor, runs, others int) (float64, error) {
	if others > 0 {
		// Each keeps a thread, however many cores there are.
		defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(others + 2))
		defer stress(others, 1)()
		if err := device.Sleep(ctx, settle); err != nil {
			return 0, err
		}
	}
	seconds, err := session.Time(ctx, inputs, runs)
	if err != nil {
		return 0, err
	}
	return stats.Median(seconds), nil
}
