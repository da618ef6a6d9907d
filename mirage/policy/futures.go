package policy

import (
	"slices"

	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Draws are the waits, in seconds, of a successor submitted now, in futures in
// which jobs run as long as their users' lately did: in Drained there are
// no new arrivals, in Open those of the weeks before come again.
type Draws struct {
	Drained, Open stats.Sorted
}

// Futures submits when that costs least on average over what may come. If an hour
// of overlap costs c of interruption, expected interruption and c times expected
// overlap, over all times of submission, are least where the predecessor has as
// long to run as the 1/(1+c) quantile of the wait (the newsvendor's critical
// ratio). The quantile is the mean of those of three distributions: the two of
// [Draws], and the one wait that the forecast with partly used limits predicts.
type Futures struct {
	Quantile float64 // in [0, 1]
}

// Decide says submit when the quantile is reached.
func (f Futures) Decide(s *State) (Decision, error) {
	if s.Forecast == nil || s.Draw == nil {
		return Decision{}, ErrForecast
	}
	forecast, err := s.Forecast()
	if err != nil {
		return Decision{}, err
	}
	if s.RemainingSeconds() > farOff(forecast[0]) {
		return waitOf(s, uncertainty.Point(forecast[1])), nil
	}
	d, err := s.Draw()
	if err != nil {
		return Decision{}, err
	}
	wait := (forecast[1] + d.Drained.Quantile(f.Quantile) + d.Open.Quantile(f.Quantile)) / 3
	return waitOf(s, uncertainty.Point(wait)), nil
}

// farOff is from how many seconds on the predecessor has too long to run for the
// draws to matter: twice the wait where all use their full limits, and a half day
// for arrivals.
func farOff(fullLimits float64) float64 { return 2*fullLimits + 12*3600 }

func futures() Baseline {
	return Baseline{
		Policy: func(q float64) Policy { return Futures{Quantile: q} },
		Knob: &Knob{
			Name: "wait_quantile", Help: "quantile of the waits drawn, 1/(1+c) where an hour of overlap costs c of interruption",
			Most: 1, Default: .5,
			AtCost: func(overlap float64) float64 { return 1 / (1 + overlap) },
		},
		Forecasts: true, Rival: true,
	}
}

// How many futures are drawn of each kind, over how many weeks arrivals go back,
// and how long a wait may be in seconds.
const (
	drawsOfEach = 8
	weeksBack   = 4
	longestWait = 7 * 86400
)

// DrawFutures draws the futures of a simulation, which stays as it is: always the same
// at the same instant.
func DrawFutures(service chain.Service, sim *simulator.Simulator) (d Draws, err error) {
	lengths := sim.Lengths()
	for i := range drawsOfEach {
		f := simulator.Future{Length: lengths.Draw(i)}
		drained, err := service.WaitIn(sim, f, longestWait)
		if err != nil {
			return d, err
		}
		f.Back = int64(1+i%weeksBack) * 7 * 86400
		fed, err := service.WaitIn(sim, f, longestWait)
		if err != nil {
			return d, err
		}
		d.Drained, d.Open = append(d.Drained, drained), append(d.Open, fed)
	}
	slices.Sort(d.Drained)
	slices.Sort(d.Open)
	return d, nil
}
