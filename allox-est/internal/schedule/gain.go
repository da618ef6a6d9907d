package schedule

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Errors returned where nothing is said of a gain.
var (
	// ErrNoDoubt is returned for jobs of which no error and no interval is known.
	ErrNoDoubt = errors.New("no estimate has an interval or a measured error")
	// ErrManyJobs is returned for more jobs than are replayed again and again.
	ErrManyJobs = errors.New("too many jobs to simulate them with resampled times")
)

// mostDrawn bounds the number of jobs that are replayed with other true times.
const mostDrawn = 3000

// Gain returns how much sooner jobs end on average under matching (allox) than with the
// shortest first (sjf), as a share of the latter: the median and the ends of 95 % of the worlds
// that agree with the estimates. In each world a job takes its estimate times a lognormal
// factor as wide as the estimate's interval; for jobs without intervals the factors are drawn
// from the measured errors. Below 0 matching loses.
func Gain(ctx context.Context, jobs []Record, c Cluster, s Settings, rng *rand.Rand) (uncertainty.Prediction, error) {
	if len(jobs) > mostDrawn {
		return uncertainty.Prediction{}, ErrManyJobs
	}
	factor, err := factors(jobs)
	if err != nil {
		return uncertainty.Prediction{}, err
	}
	var gains []float64
	for range min(200, max(30, 60000/max(1, len(jobs)))) {
		world := slices.Clone(jobs)
		for i := range world {
			for d := range world[i].On {
				on := &world[i].On[d]
				if math.IsInf(on.Seconds, 1) || world[i].absent(Device(d)) {
					continue
				}
				reported := jobs[i].Reported(Device(d))
				on.Seconds = reported * factor(*on, rng)
				on.Error = reported/on.Seconds - 1
			}
		}
		var means [2]float64
		for i, name := range []string{"allox", "sjf"} {
			p, err := New(name, s)
			if err != nil {
				return uncertainty.Prediction{}, err
			}
			done, err := Replay(ctx, world, c, p, nil)
			if err != nil {
				return uncertainty.Prediction{}, err
			}
			for _, r := range done.Runs {
				means[i] += r.JCT()
			}
		}
		gains = append(gains, 1-means[0]/means[1])
	}
	slices.Sort(gains)
	at := stats.Sorted(gains).Quantile
	return uncertainty.Prediction{Value: at(0.5), Low: at(0.025), High: at(0.975), Level: 0.95}, nil
}

// factors returns what draws the true time of a demand over its estimate.
func factors(jobs []Record) (func(Demand, *rand.Rand) float64, error) {
	var pool []float64
	doubts := false
	for _, j := range jobs {
		for d, on := range j.On {
			doubts = doubts || on.Doubt > 0
			if on.Error != 0 && !j.absent(Device(d)) {
				pool = append(pool, 1/(1+on.Error))
			}
		}
	}
	switch {
	case doubts:
		return func(d Demand, rng *rand.Rand) float64 { return math.Exp(d.Doubt * rng.NormFloat64()) }, nil
	case len(pool) > 0:
		return func(_ Demand, rng *rand.Rand) float64 { return pool[rng.IntN(len(pool))] }, nil
	}
	return nil, ErrNoDoubt
}

// doubt is the standard deviation of the logarithm of a time that an interval
// leaves; 0 where it has no end.
func doubt(p uncertainty.Prediction) float64 {
	if !p.Bounded() || p.Low <= 0 || p.High <= p.Low || p.Level <= 0 {
		return 0
	}
	return math.Log(p.High/p.Low) / 2 / (math.Sqrt2 * math.Erfinv(p.Level))
}
