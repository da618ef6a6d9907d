package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/allox-est/internal/history"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Forecast predicts the whole of a run from its marks so far, and from past runs of the same
// command at the same share of their units: what every command prints, and backtest judges. A
// run that is refused by itself has an answer where the past shows how such runs go on: three
// runs whose course so far is alike, or one of the same script.
func Forecast(marks []progress.Mark, others [][]progress.Mark, job Job, level float64, past []history.Shape) (Rest, error) {
	r, err := Continue(marks, others, job, level)
	if err != nil || len(past) == 0 {
		return r, err
	}
	last := marks[len(marks)-1]
	pace, ok := history.PaceOf(marks)
	left := float64(job.Epochs) - last.Number
	if !ok || left <= 0 {
		return r, nil
	}
	rests, alike := history.Weigh(past, pace, left)
	if len(rests) == 0 || r.Refused != nil && alike < history.LeastBlocks {
		return r, nil
	}
	draws := make([]float64, len(r.totals))
	for i, total := range r.totals {
		draws[i] = total - last.Seconds
	}
	rest := mix(draws, rests, level)
	r.Total = Shift(rest, last.Seconds)
	r.Refused = nil
	return r, nil
}

// Weights of a mixture of the model and past runs, set on every other series of steps-azure
// and steps-nanogpt, checked on the others: DESIGN.md.
const (
	// modelWeight is the weight of the model in past runs that are alike.
	modelWeight = 1
	// pastSD is the difference, in logarithms, of a run from one past run of a course that is
	// alike; it falls with the root of their number.
	pastSD = 0.04
)

// spreads are normal quantiles: the difference of a run from a past one.
var spreads = []float64{-1.64, -1.04, -0.67, -0.39, -0.13, 0.13, 0.39, 0.67, 1.04, 1.64}

// mix returns the prediction by draws of the model and by past runs, in seconds: the predictive
// distribution of a Dirichlet process whose base measure is the model (Ferguson 1973, A Bayesian
// analysis of some nonparametric problems, section 3).
func mix(draws []float64, past []history.Weighted, level float64) uncertainty.Prediction {
	xs := slices.Clone(draws)
	weights := slices.Repeat([]float64{modelWeight / float64(len(xs))}, len(xs))
	number := 1.0
	for _, p := range past {
		number += p.Weight
	}
	for _, p := range past {
		for _, z := range spreads {
			xs = append(xs, p.Rest*math.Exp(z*pastSD/math.Sqrt(number)))
			weights = append(weights, p.Weight/float64(len(spreads)))
		}
	}
	stat.SortWeighted(xs, weights)
	quantile := func(q float64) float64 { return stat.Quantile(q, stat.Empirical, xs, weights) }
	tail := (1 - level) / 2
	return uncertainty.Prediction{Value: quantile(0.5), Low: quantile(tail), High: quantile(1 - tail), Level: level}
}

// correctByPast corrects the wall time by earlier whole runs, as Forecast corrects that of a run
// under way. An open interval changes nothing.
func (e *Estimate) correctByPast(past []history.Shape) {
	totals, _ := history.Weigh(past, history.Pace{Recent: 1}, 1)
	if len(totals) == 0 || !e.Wall.IsBounded() || !(e.Wall.Value > 0) || e.Wall.Level == 0 {
		return
	}
	if e.totals == nil { // a method without draws
		deviation, rng := e.Wall.Width()/2/distuv.UnitNormal.Quantile((1+e.Wall.Level)/2), newRandom()
		for range draws {
			e.totals = append(e.totals, max(0, e.Wall.Value+deviation*rng.NormFloat64()))
		}
	}
	e.Wall = mix(e.totals, totals, e.Wall.Level)
	e.Past = len(totals)
}
