package estimate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/plural"
)

// Warnings, found in Estimate.Warnings when an estimate should be read with a
// doubt in mind.
var (
	// ErrFailedRuns warns that runs failed and were left out.
	ErrFailedRuns = errors.New("failed runs left out")
	// ErrFewEpochs warns that a cost which comes less often than the samples
	// are long has not been seen.
	ErrFewEpochs = errors.New("rare costs unseen")
	// ErrDriftUnseen warns that the samples show only the beginning of the job.
	ErrDriftUnseen = errors.New("drift unseen")
	// ErrTrend warns that the epochs grow or shrink within the samples.
	ErrTrend = errors.New("times change during the samples")
	// ErrContention warns that other work slowed the samples.
	ErrContention = errors.New("contention")
	// ErrOversubscribed warns that the job has more threads than there are
	// processors.
	ErrOversubscribed = errors.New("more threads than CPUs")
	// ErrPeriod warns that costs on the way were taken to be periodic.
	ErrPeriod = errors.New("period inferred")
	// ErrRecurring warns that costs were seen on the way, which come again at random.
	ErrRecurring = errors.New("costs that come again")
	// ErrUntold warns that laps are missing and whole runs were used.
	ErrUntold = errors.New("no laps used")
	// ErrUnbounded warns that there are too few runs for an interval.
	ErrUnbounded = errors.New("no interval")
)

// rank returns the position of a warning: the most important first.
func rank(w error) int {
	order := []error{ErrUnsure, ErrUntold, ErrFailedRuns, ErrTrend, ErrPeriod, ErrRecurring, ErrContention, ErrOversubscribed, ErrUnbounded, ErrDriftUnseen, ErrFewEpochs}
	if i := slices.IndexFunc(order, func(sentinel error) bool { return errors.Is(w, sentinel) }); i >= 0 {
		return i
	}
	return len(order)
}

// fewEpochs is the number of epochs from which on costs that come with less than 3 % of them
// are ruled out (rule of three: 3/n at 95 %).
const fewEpochs = 100

// rareUnits names the number of units without a cost that rule out costs which come more often:
// a third of them.
func rareUnits(units int, unit string) string {
	if units < 6 {
		return unit
	}
	return plural.Count(units/3, unit)
}

// doubts returns the warnings that hold for any method.
func doubts(runs []journal.Run, job Job, e *Estimate) []error {
	var w []error
	var reach, cpus, threads int
	for _, r := range runs {
		reach = max(reach, r.Epochs)
		cpus = max(cpus, r.CPUs)
		threads = max(threads, r.Threads)
	}
	if e.Epochs < fewEpochs && reach < job.Epochs {
		w = append(w, fmt.Errorf("%w: %s sampled; a cost that comes less often than every %s may be missing", ErrFewEpochs, plural.Count(e.Epochs, job.unit()), rareUnits(e.Epochs, job.unit())))
	}
	if reach*2 < job.Epochs {
		w = append(w, fmt.Errorf("%w: the longest sample ends at %s %d of %d; longer samples show more", ErrDriftUnseen, job.unit(), reach, job.Epochs))
	}
	if job.Device == "cpu" && threads > cpus && cpus > 0 {
		w = append(w, fmt.Errorf("%w: %d on %d", ErrOversubscribed, threads, cpus))
	}
	for _, p := range []float64{e.Wall.Low, e.Wall.High} {
		if math.IsInf(p, 0) {
			return append(w, fmt.Errorf("%w: %d runs", ErrUnbounded, len(runs)))
		}
	}
	return w
}
