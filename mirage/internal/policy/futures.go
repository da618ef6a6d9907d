package policy

import (
	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Queue is the queue at a decision, which can be simulated forward with a successor. Its
// times are in seconds from now on.
type Queue interface {
	// Forecast returns the start of a successor, submitted after so many seconds, if nobody else
	// comes and jobs use a share of their limits.
	Forecast(share float64, after int64) (float64, error)
	// Draw returns the same in the future with a number, in which jobs run as long as their
	// users' lately did, and the jobs of back seconds ago come again; none for 0. It is a week
	// at the most.
	Draw(number int, back, after int64) (float64, error)
}

// NewQueue returns a simulation as a queue. The simulation does not change.
func NewQueue(service chain.Service, sim *simulator.Simulator) Queue {
	return &queue{service: service, sim: sim}
}

type queue struct {
	service chain.Service
	sim     *simulator.Simulator
	lengths *simulator.Lengths
}

func (q *queue) Forecast(share float64, after int64) (float64, error) {
	return q.service.WaitIn(q.sim, q.sim.Using(share), after, simulator.Farthest)
}

func (q *queue) Draw(number int, back, after int64) (float64, error) {
	if q.lengths == nil {
		q.lengths = q.sim.Lengths()
	}
	return q.service.WaitIn(q.sim, simulator.Future{Length: q.lengths.Draw(number), Back: back}, after, longestWait)
}

// Futures submits when that costs least on average over drawn futures. If an hour
// of overlap costs c of interruption, expected interruption and c times expected
// overlap, over all times of submission, are least where the predecessor has as
// long to run as the 1/(1+c) quantile of the wait (the newsvendor's critical
// ratio). The quantile is the mean of those of three distributions: the waits in
// drawn futures without new arrivals, those in which the jobs of the weeks before
// come again, and the one wait that the forecast with partly used limits predicts. It looks
// ahead: a submission at the next decision must still be in time by that quantile, or the
// successor is submitted now.
type Futures struct {
	Quantile float64 // in [0, 1]
}

// How many futures are drawn of each kind, over how many weeks arrivals go back,
// and how long a wait may be in seconds. Set on 240 episodes from November to January.
const (
	drawsOfEach = 8
	weeksBack   = 4
	longestWait = 7 * 86400
)

// Decide says submit when the quantile is reached, or will be before the next decision. That
// comes after half of what the predecessor has left beyond the wait, or sooner if a successor
// submitted then would be late. Who looks more often submits at the first passing rise of the
// wait, and cannot take it back.
func (f Futures) Decide(s *State) (Decision, error) {
	q, err := s.queue()
	if err != nil {
		return Decision{}, err
	}
	starts, err := drawStarts(q, 0)
	if err != nil {
		return Decision{}, err
	}
	left := s.RemainingSeconds()
	d := waitOf(s, uncertainty.Point(starts(f.Quantile)))
	d.Curve = wait.Quantiles(intervalLevel, starts).Curve()
	soonest := min(s.Interval, s.PredEnd-s.Now)
	for after := -d.Expected.Value * 3600 / 2; !d.Submit; after /= 2 {
		next := max(int64(after), soonest)
		later, err := drawStarts(q, next)
		switch {
		case err != nil:
			return Decision{}, err
		case later(f.Quantile) <= left:
			d.Next = s.Now + next
			return d, nil
		}
		d.Submit = next == soonest
	}
	return d, nil
}

// drawStarts returns the quantiles of the time from now to the start of a successor that is
// submitted after some seconds.
func drawStarts(q Queue, after int64) (func(p float64) float64, error) {
	part, err := q.Forecast(samples.ForecastShares()[1], after)
	if err != nil {
		return nil, err
	}
	var kinds [2]stats.Sorted // without and with arrivals
	for kind := range kinds {
		drawn := make([]float64, drawsOfEach)
		for i := range drawn {
			if drawn[i], err = q.Draw(i, int64(kind*(1+i%weeksBack))*7*86400, after); err != nil {
				return nil, err
			}
		}
		kinds[kind] = stats.Sort(drawn)
	}
	return func(p float64) float64 { return (part + kinds[0].Quantile(p) + kinds[1].Quantile(p)) / 3 }, nil
}

var futures = Baseline{
	Policy: func(q float64) Policy { return Futures{Quantile: q} }, Forecasts: true, Rival: true,
	Knob: &Knob{
		Name: "wait_quantile", Help: "quantile of the sampled waits: 1/(1+c) if an hour of overlap costs c hours of interruption",
		Most: 1, Default: .5,
		AtCost: func(overlap float64) float64 { return 1 / (1 + overlap) },
	},
}
