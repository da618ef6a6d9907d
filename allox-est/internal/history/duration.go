package history

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/shared/timing"
	"github.com/foretime/foretime/shared/uncertainty"
)

// changeWorth is the number of runs that the machine's known changes of speed are worth, as a
// prior for the difference between two runs of a command.
const changeWorth = 4

// Duration predicts how long the next run takes, in seconds, given that it has taken so many:
// the logarithms of durations are normal, of an unknown variance whose prior is half of that of
// a machine's change of speed. Runs on another machine do not count,
// nor do those of other lengths than so many units, if these are known. False without a past, and once the run has taken longer than all
// but 1 in 1000 would.
func (p *Past) Duration(elapsed, units, level float64) (d uncertainty.Prediction, ok bool) {
	var logs []float64
	for _, run := range p.last() {
		sameLength := units == 0 || run.Units == 0 || run.Units == units
		if run.Seconds > 0 && !run.OtherMachine && sameLength {
			logs = append(logs, math.Log(run.Seconds))
		}
	}
	n := float64(len(logs))
	if n == 0 {
		return d, false
	}
	mean := stat.Mean(logs, nil)
	prior := math.Log(timing.SpeedChange(level).High) / distuv.UnitNormal.Quantile((1+level)/2) / math.Sqrt2
	squares := changeWorth * prior * prior
	for _, x := range logs {
		squares += (x - mean) * (x - mean)
	}
	nu := changeWorth + n - 1
	t := distuv.StudentsT{Mu: mean, Sigma: math.Sqrt(squares / nu * (1 + 1/n)), Nu: nu}
	past := 0.0
	if elapsed > 0 {
		past = t.CDF(math.Log(elapsed))
	}
	if past > 0.999 {
		return d, false
	}
	quantile := func(q float64) float64 { return max(elapsed, math.Exp(t.Quantile(past+(1-past)*q))) }
	tail := (1 - level) / 2
	return uncertainty.Prediction{Value: quantile(0.5), Low: quantile(tail), High: quantile(1 - tail), Level: level}, true
}
