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
// each, and returns by how many times longer its inferences took in the mean than
// alone. Rounds take turns, the median of which counts.
func Slowdowns(ctx context.Context, session runtime.Session, most, rounds int) ([]float64, error) {
	inputs := Inputs(session.Inputs())
	warm, err := session.Time(ctx, inputs, 5)
	if err != nil {
		return nil, err
	}
	runs := int(max(3, min(2000, math.Ceil(loadedSeconds/max(1e-6, slices.Min(warm))))))
	means := make([][]float64, most+1)
	for range rounds {
		for others := range means {
			mean, err := beside(ctx, session, inputs, runs, others)
			if err != nil {
				return nil, err
			}
			means[others] = append(means[others], mean)
		}
	}
	alone := stats.Median(means[0])
	factors := make([]float64, most)
	for others := 1; others <= most; others++ {
		factors[others-1] = stats.Median(means[others]) / alone
	}
	return factors, nil
}

// beside is the mean time of inferences while others run.
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
	sum := 0.0
	for _, s := range seconds {
		sum += s
	}
	return sum / float64(len(seconds)), nil
}
