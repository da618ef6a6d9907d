package policy

import (
	"math"

	"github.com/foretime/foretime/mirage/backtest"
	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Queue is the queue at a decision, which can be simulated forward with a successor
// that is submitted now. Its waits are in seconds, and no longer than a bound.
type Queue interface {
	// Forecast is the wait if nobody else comes and jobs use a share of their limits.
	Forecast(share float64, bound int64) (float64, error)
	// Draw is the wait in a future of a number, in which jobs run as long as their
	// users' lately did, and the jobs of so many seconds ago come again; none for 0.
	Draw(number int, back, bound int64) (float64, error)
}

// NewQueue is a simulation as a queue, which stays as it is.
func NewQueue(service chain.Service, sim *simulator.Simulator) Queue {
	return &queue{service: service, sim: sim}
}

type queue struct {
	service chain.Service
	sim     *simulator.Simulator
	lengths *simulator.Lengths
}

func (q *queue) Forecast(share float64, bound int64) (float64, error) {
	return q.service.WaitIn(q.sim, q.sim.Using(share), bound)
}

func (q *queue) Draw(number int, back, bound int64) (float64, error) {
	if q.lengths == nil {
		q.lengths = q.sim.Lengths()
	}
	return q.service.WaitIn(q.sim, simulator.Future{Length: q.lengths.Draw(number), Back: back}, bound)
}

// Futures submits when that costs least on average over what may come. If an hour
// of overlap costs c of interruption, expected interruption and c times expected
// overlap, over all times of submission, are least where the predecessor has as
// long to run as the 1/(1+c) quantile of the wait (the newsvendor's critical
// ratio). The quantile is the mean of those of three distributions: the waits in
// drawn futures without new arrivals, those in which the jobs of the weeks before
// come again, and the one wait that the forecast with partly used limits predicts.
type Futures struct {
	Quantile float64 // in [0, 1]
}

// How many futures are drawn of each kind, over how many weeks arrivals go back,
// and how long a wait may be in seconds.
const (
	drawsOfEach = 8
	weeksBack   = 4
	longestWait = 7 * 86400
)

// farOff is from how many seconds on, beside twice the wait where all use their full
// limits, the predecessor has too long to run for the draws to matter: a half day for
// arrivals.
const farOff = 12 * 3600

// Decide says submit when the quantile is reached. Where the state does not ask for
// the curve, no more is simulated than the decision needs.
func (f Futures) Decide(s *State) (Decision, error) {
	q, err := s.queue()
	if err != nil {
		return Decision{}, err
	}
	far := false
	if near := (s.RemainingSeconds() - farOff) / 2; near > 0 {
		full, err := q.Forecast(1, int64(math.Ceil(near)))
		if far = full < near; err != nil || far && !s.Curve {
			return waitOf(s, uncertainty.Point(full)), err
		}
	}
	var d drawn
	if d.part, err = q.Forecast(samples.ForecastShares()[1], simulator.Farthest); err != nil {
		return Decision{}, err
	}
	for i := range drawsOfEach {
		for kind := range d.waits {
			bound := int64(longestWait)
			if !s.Curve {
				low, high := d.between(f.Quantile)
				switch decision := waitOf(s, uncertainty.Point(high)); {
				case !decision.Submit:
					return decision, nil
				case waitOf(s, uncertainty.Point(low)).Submit:
					return f.whole(*s)
				}
				bound = d.enough(kind, f.Quantile, s.RemainingSeconds())
			}
			wait, err := q.Draw(i, int64(kind*(1+i%weeksBack))*7*86400, bound)
			if err != nil {
				return Decision{}, err
			}
			d.waits[kind] = append(d.waits[kind], wait)
		}
	}
	_, wait := d.between(f.Quantile)
	decision := waitOf(s, uncertainty.Point(wait))
	if decision.Submit && !s.Curve {
		return f.whole(*s)
	}
	if decision.Submit = decision.Submit && !far; s.Curve {
		for _, chance := range backtest.Chances() {
			_, wait := d.between(chance)
			decision.Curve = append(decision.Curve, backtest.Start{Seconds: wait, Chance: chance})
		}
	}
	return decision, nil
}

// whole decides with all that may be simulated.
func (f Futures) whole(s State) (Decision, error) {
	s.Curve = true
	return f.Decide(&s)
}

// drawn is what has been simulated so far: the wait with partly used limits, and
// those without and with arrivals.
type drawn struct {
	part  float64
	waits [2][]float64
}

// between are the least and the most that the quantile of the wait may come to.
func (d *drawn) between(q float64) (low, high float64) {
	low, high = d.part, d.part
	for _, waits := range d.waits {
		low += filled(waits, 0).Quantile(q)
		high += filled(waits, longestWait).Quantile(q)
	}
	return low / 3, high / 3
}

// filled are waits with those that are not drawn yet taken for some other.
func filled(waits []float64, other float64) stats.Sorted {
	all := make([]float64, drawsOfEach)
	for i := copy(all, waits); i < len(all); i++ {
		all[i] = other
	}
	return stats.Sort(all)
}

// enough is a wait of one kind beyond which it makes no difference how long it is: if
// it counts at all in the quantile, that is no less than what remains.
func (d *drawn) enough(kind int, q, remaining float64) int64 {
	needed := 3*remaining - d.part - filled(d.waits[1-kind], 0).Quantile(q)
	_, weight := math.Modf(q * (drawsOfEach - 1))
	if weight == 0 {
		weight = 1
	}
	return int64(min(math.Ceil(needed/weight)+1, longestWait))
}

var futures = Baseline{
	Policy: func(q float64) Policy { return Futures{Quantile: q} }, Forecasts: true, Rival: true,
	Knob: &Knob{
		Name: "wait_quantile", Help: "quantile of the waits drawn, 1/(1+c) where an hour of overlap costs c of interruption",
		Most: 1, Default: .5,
		AtCost: func(overlap float64) float64 { return 1 / (1 + overlap) },
	},
}
