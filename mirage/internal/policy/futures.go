package policy

import (
	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Queue is the queue at a decision, which can be simulated forward with a successor
// that is submitted now. Its waits are in seconds.
type Queue interface {
	// Forecast is the wait if nobody else comes and jobs use a share of their limits.
	Forecast(share float64) (float64, error)
	// Draw is the wait in a future of a number, in which jobs run as long as their
	// users' lately did, and the jobs of so many seconds ago come again; none for 0.
	// It is a week at the most.
	Draw(number int, back int64) (float64, error)
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

func (q *queue) Forecast(share float64) (float64, error) {
	return q.service.WaitIn(q.sim, q.sim.Using(share), simulator.Farthest)
}

func (q *queue) Draw(number int, back int64) (float64, error) {
	if q.lengths == nil {
		q.lengths = q.sim.Lengths()
	}
	return q.service.WaitIn(q.sim, simulator.Future{Length: q.lengths.Draw(number), Back: back}, longestWait)
}

// Futures submits when that costs least on average over drawn futures. If an hour
// of overlap costs c of interruption, expected interruption and c times expected
// overlap, over all times of submission, are least where the predecessor has as
// long to run as the 1/(1+c) quantile of the wait (the newsvendor's critical
// ratio). The quantile is the mean of those of three distributions: the waits in
// drawn futures without new arrivals, those in which the jobs of the weeks before
// come again, and the one wait that the forecast with partly used limits predicts.
// Until half of what the predecessor has left beyond that wait is over, it does not
// look again.
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

// looksAgain is the share of the time that the predecessor has left beyond the wait
// after which it is worth looking again. Who looks more often submits at the first
// passing rise of the wait, and cannot take it back. The half cost least of an eighth, a
// quarter, a half and three quarters in December and January.
const looksAgain = 0.5

// Decide says submit when the quantile is reached.
func (f Futures) Decide(s *State) (Decision, error) {
	q, err := s.queue()
	if err != nil {
		return Decision{}, err
	}
	part, err := q.Forecast(samples.ForecastShares()[1])
	if err != nil {
		return Decision{}, err
	}
	var waits [2]stats.Sorted // without and with arrivals
	for kind := range waits {
		drawn := make([]float64, drawsOfEach)
		for i := range drawn {
			if drawn[i], err = q.Draw(i, int64(kind*(1+i%weeksBack))*7*86400); err != nil {
				return Decision{}, err
			}
		}
		waits[kind] = stats.Sort(drawn)
	}
	quantile := func(p float64) float64 { return (part + waits[0].Quantile(p) + waits[1].Quantile(p)) / 3 }
	planned := quantile(f.Quantile)
	d := waitOf(s, uncertainty.Point(planned))
	if !d.Submit {
		d.Next = s.Now + int64(looksAgain*(s.RemainingSeconds()-planned))
	}
	d.Curve = wait.Quantiles(intervalLevel, quantile).Curve()
	return d, nil
}

var futures = Baseline{
	Policy: func(q float64) Policy { return Futures{Quantile: q} }, Forecasts: true, Rival: true,
	Knob: &Knob{
		Name: "wait_quantile", Help: "quantile of the sampled waits: 1/(1+c) if an hour of overlap costs c hours of interruption",
		Most: 1, Default: .5,
		AtCost: func(overlap float64) float64 { return 1 / (1 + overlap) },
	},
}
