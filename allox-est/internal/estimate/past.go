package estimate

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// pastWorth is the weight of the model in jobs of the user's own past; a shorter past is
// not used. Set on every other series of steps-azure.
const pastWorth = 3

// Outcome is a run of the user's past whose rest was predicted from as much of it.
type Outcome struct {
	Block  string  // the job or machine: those of one block count as one
	Error  float64 // logarithm of the actual over the predicted rest
	Course Course  // by then
}

// OutcomeOf returns the outcome of a prediction, given the actual total; false where
// nothing was left.
func (r Rest) OutcomeOf(block string, actual float64) (Outcome, bool) {
	left, predicted := actual-r.done, r.Total.Value-r.done
	if left <= 0 || predicted <= 0 {
		return Outcome{}, false
	}
	return Outcome{block, math.Log(left / predicted), r.Course}, true
}

// Given corrects a prediction by the errors of earlier ones of the same user. The predictive
// distribution is that of a Dirichlet process whose base is the model (Ferguson 1973, A
// Bayesian analysis of some nonparametric problems, section 3): the model alone without a past,
// and the ranks of past errors, as in split conformal prediction, with a long one. A past
// shorter than the weight of the model changes nothing. If there are enough runs with the same
// course so far, only these count; then a run that was refused by itself has an answer.
func (r Rest) Given(past []Outcome) (uncertainty.Prediction, error) {
	blocks := map[string]float64{}
	var alike []Outcome
	for _, o := range past {
		if o.Course == r.Course {
			alike = append(alike, o)
			blocks[o.Block]++
		}
	}
	switch {
	case len(blocks) >= pastWorth:
		past = alike
	case r.Refused != nil:
		return r.Total, r.Refused
	default:
		clear(blocks)
		for _, o := range past {
			blocks[o.Block]++
		}
	}
	if len(blocks) < pastWorth {
		return r.Total, r.Refused
	}
	return corrected(r.Total, r.totals, r.done, past), nil
}

// corrected mixes drawn totals with those that past errors of the prediction suggest.
// Each block of the past weighs one, the draws pastWorth together.
func corrected(p uncertainty.Prediction, totals []float64, done float64, past []Outcome) uncertainty.Prediction {
	blocks := map[string]float64{}
	for _, o := range past {
		blocks[o.Block]++
	}
	xs := slices.Clone(totals)
	weights := slices.Repeat([]float64{pastWorth / float64(len(xs))}, len(xs))
	for _, o := range past {
		xs = append(xs, done+(p.Value-done)*math.Exp(o.Error))
		weights = append(weights, 1/blocks[o.Block])
	}
	stat.SortWeighted(xs, weights)
	quantile := func(q float64) float64 { return stat.Quantile(q, stat.Empirical, xs, weights) }
	tail := (1 - p.Level) / 2
	value := math.Cbrt(quantile(0.25) * quantile(0.5) * quantile(0.75)) // past errors may have two modes
	return uncertainty.Prediction{Value: value, Low: quantile(tail), High: quantile(1 - tail), Level: p.Level}
}

// PastTotal is an earlier whole run of the job, or of the same script with another
// length.
type PastTotal struct {
	Block   string  // the job: totals of one block weigh one together
	Seconds float64 // that it took; at least this if it was cut
	// Predicted is the median that was predicted for it, in seconds; 0 for a run as long
	// as the job.
	Predicted float64
}

// given corrects the wall time by earlier whole runs, as Forecast corrects that of a run
// under way. A past of fewer than pastWorth blocks, or an open interval, changes nothing.
func (e *Estimate) given(past []PastTotal) {
	if !e.Wall.Bounded() || !(e.Wall.Value > 0) || e.Wall.Level == 0 {
		return
	}
	var outcomes []Outcome
	blocks := map[string]bool{}
	for _, t := range past {
		predicted := t.Predicted
		if predicted == 0 {
			predicted = e.Wall.Value
		}
		if t.Seconds > 0 && predicted > 0 {
			outcomes = append(outcomes, Outcome{Block: t.Block, Error: math.Log(t.Seconds / predicted)})
			blocks[t.Block] = true
		}
	}
	if len(blocks) < pastWorth {
		return
	}
	if e.totals == nil { // a method without draws
		deviation, rng := e.Wall.Width()/2/distuv.UnitNormal.Quantile((1+e.Wall.Level)/2), newRandom()
		for range draws {
			e.totals = append(e.totals, max(0, e.Wall.Value+deviation*rng.NormFloat64()))
		}
	}
	e.Wall, e.Past = corrected(e.Wall, e.totals, 0, outcomes), len(blocks)
}

// Forecast predicts the whole of a run from its marks so far, corrected by past runs of
// which as much was seen: what every command prints, and backtest judges. Before the run
// begins, New predicts it from samples, with the same correction.
func Forecast(marks []progress.Mark, others [][]progress.Mark, job Job, level float64, past []Outcome) (Rest, error) {
	r, err := Continue(marks, others, job, level)
	if err != nil {
		return r, err
	}
	if last := marks[len(marks)-1]; last.Number < float64(job.Epochs) {
		r.Total, r.Refused = r.Given(past)
	}
	return r, nil
}

// PastRun is a finished run: the units done with their times, and its end, in seconds.
type PastRun struct {
	Marks []progress.Mark
	Units float64
	Wall  float64
}

// Past holds the finished runs of one job.
type Past struct {
	Runs []PastRun
	Job  Job

	share    float64 // of which outcomes are
	outcomes []Outcome
}

// The runs that are used of a past, the last ones, and the growth of the share seen from
// which on they are judged again.
const (
	pastRuns  = 40
	pastShare = 0.02
)

// At returns how predictions of the past runs fared from such a share of their units.
func (p *Past) At(share, level float64) []Outcome {
	if p.outcomes != nil && share >= p.share && share < p.share+pastShare {
		return p.outcomes
	}
	p.share, p.outcomes = share, []Outcome{}
	for i, run := range p.Runs[max(0, len(p.Runs)-pastRuns):] {
		seen := 0
		for seen < len(run.Marks) && run.Marks[seen].Number <= share*run.Units {
			seen++
		}
		job := p.Job
		job.Epochs = int(run.Units)
		if r, err := Continue(run.Marks[:seen], nil, job, level); err == nil {
			if o, left := r.OutcomeOf(strconv.Itoa(i), run.lastUnit()); left {
				p.outcomes = append(p.outcomes, o)
			}
		}
	}
	return p.outcomes
}

// lastUnit returns when the last unit was done; the end of a run whose lines begin units.
func (r PastRun) lastUnit() float64 {
	if n := len(r.Marks); n > 0 && r.Marks[n-1].Number >= r.Units {
		return r.Marks[n-1].Seconds
	}
	return r.Wall
}

// Teardown returns the time from the last unit to the end of the process in past runs,
// with a range that holds them all; false if no run shows it.
func (p *Past) Teardown() (t uncertainty.Prediction, known bool) {
	var all []float64
	for _, run := range p.Runs[max(0, len(p.Runs)-pastRuns):] {
		if last := run.lastUnit(); last < run.Wall {
			all = append(all, run.Wall-last)
		}
	}
	if len(all) == 0 {
		return t, false
	}
	slices.Sort(all)
	few := 1 + 1/float64(len(all)) // one run shows only its own
	return uncertainty.Prediction{Value: stats.Median(all), Low: all[0] / few, High: all[len(all)-1] * few}, true
}
