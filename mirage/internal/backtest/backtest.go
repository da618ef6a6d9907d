package backtest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrRange is returned when no job of a range has a wait to judge by.
var ErrRange = errors.New("no job with a known wait")

// Figures summarises forecast errors. Waits are in hours.
type Figures struct {
	MAEHours      float64 `json:"mae_hours"`
	MedianAEHours float64 `json:"median_ae_hours"`
	Within10Min   float64 `json:"within_10min"` // shares of the jobs
	Within1H      float64 `json:"within_1h"`
	Spearman      float64 `json:"spearman"`
}

// Report compares the forecasts of a range with the actual waits.
type Report struct {
	Jobs    int `json:"jobs"`
	Unknown int `json:"unknown_waits"` // jobs that are not judged
	Figures
	MeanWaitHours float64 `json:"mean_wait_hours"`
	WaitP10Hours  float64 `json:"wait_p10_hours"` // one job in ten waited no longer
	WaitP90Hours  float64 `json:"wait_p90_hours"` // and one in ten no less
	Coverage      float64 `json:"coverage"`
	WidthHours    float64 `json:"width_hours"` // mean of the bounded intervals
	Winkler       float64 `json:"winkler"`     // their mean interval score, in hours
	// BlockDays is the length of the spans of time that are one observation in
	// the intervals below, which hold 95 times of 100.
	BlockDays int                    `json:"block_days"`
	MAE       uncertainty.Prediction `json:"mae_hours_interval"`
	Baselines map[string]Figures     `json:"baselines"`
	// Eighths judges each eighth of the jobs, in the order of submission.
	Eighths []Part `json:"eighths"`
	// Best is the baseline with the least mean absolute error, Gain the share of
	// it by which the forecasts' is less.
	Best string                 `json:"best_baseline"`
	Gain uncertainty.Prediction `json:"gain"`
}

// Part judges some of the jobs.
type Part struct {
	MAEHours  float64 `json:"mae_hours"`
	BestHours float64 `json:"best_baseline_mae_hours"` // of the baseline that is best in the part
	Coverage  float64 `json:"coverage"`
}

// judged is a job with what was predicted of it, in hours.
type judged struct {
	block     int64
	wait      float64
	predicted uncertainty.Prediction
	simple    [baselines]float64
}

// The baselines: what a person would look at.
const (
	lastHundred = iota // mean of the last hundred waits of all
	userMedian
	shapeMedian
	classMedian
	baselines
)

func baselineNames() [baselines]string {
	return [baselines]string{"last_100", "user_median", "shape_median", "class_median"}
}

// baselineHours returns the baselines of a job's rules.
func baselineHours(r wait.Rules) [baselines]float64 {
	return [baselines]float64{r.Mean / 3600, r.User / 3600, r.Shape / 3600, r.Class / 3600}
}

// Range says which jobs of a log are judged: those submitted from From on and
// before To, Unix seconds.
type Range struct {
	From, To int64
	Progress func() // at every job of the log up to To
}

// Run predicts every job of a range of a log and judges what was predicted. The error
// wraps ErrRange or wait.ErrSettings.
func Run(ctx context.Context, jobs []trace.Job, in Range, s wait.Settings) (*Report, error) {
	s.From = in.From
	f, err := wait.NewForecaster(jobs, s)
	if err != nil {
		return nil, err
	}
	r := &Report{BlockDays: blockDays(in.From, in.To)}
	var cases []judged
	for i := range jobs {
		j := &jobs[i]
		if j.Submit >= in.To {
			break
		}
		d, rules, err := f.Next(ctx)
		if err != nil {
			return nil, err
		}
		in.Progress()
		switch {
		case j.Submit < in.From:
			continue
		case j.NoStart:
			r.Unknown++
			continue
		}
		cases = append(cases, judged{
			block: (j.Submit - in.From) / (int64(r.BlockDays) * 86400), wait: float64(j.Wait()) / 3600, predicted: d.Interval().Times(1. / 3600), simple: baselineHours(rules),
		})
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("%w among those submitted in the range", ErrRange)
	}
	return r, r.judge(cases)
}

// blockDays returns a week for a range of at least eight, and a day otherwise.
func blockDays(from, to int64) int {
	if to-from >= 8*7*86400 {
		return 7
	}
	return 1
}

func (r *Report) judge(cases []judged) error {
	r.Jobs = len(cases)
	r.Figures = figures(cases, predictedHours)
	r.Eighths = judgeEighths(cases)
	r.Baselines = map[string]Figures{}
	best := 0
	for b, name := range baselineNames() {
		r.Baselines[name] = figures(cases, func(c judged) float64 { return c.simple[b] })
		if r.Baselines[name].MAEHours < r.Baselines[baselineNames()[best]].MAEHours {
			best = b
		}
	}
	r.Best = baselineNames()[best]
	bounded := 0.0
	waits := make([]float64, len(cases))
	for i, c := range cases {
		r.MeanWaitHours += c.wait / float64(len(cases))
		waits[i] = c.wait
		if c.predicted.IsBounded() {
			bounded++
			r.WidthHours += c.predicted.Width()
			r.Winkler += c.predicted.Score(c.wait)
		}
	}
	r.Coverage = coverage(cases)
	r.WaitP10Hours, r.WaitP90Hours = stats.Sort(waits).Quantile(.1), stats.Sort(waits).Quantile(.9)
	r.WidthHours, r.Winkler = r.WidthHours/max(bounded, 1), r.Winkler/max(bounded, 1)
	return r.blocks(cases, best)
}

// judgeEighths judges the eighths of cases; none of fewer than eight.
func judgeEighths(cases []judged) (parts []Part) {
	n := len(cases)
	for i := 0; i < 8 && n >= 8; i++ {
		part := cases[n*i/8 : n*(i+1)/8]
		p := Part{MAEHours: figures(part, predictedHours).MAEHours, BestHours: math.Inf(1), Coverage: coverage(part)}
		for b := range baselines {
			p.BestHours = min(p.BestHours, figures(part, func(c judged) float64 { return c.simple[b] }).MAEHours)
		}
		parts = append(parts, p)
	}
	return parts
}

// coverage returns the share of cases whose interval contains the wait.
func coverage(cases []judged) float64 {
	held := 0.0
	for _, c := range cases {
		if c.predicted.Contains(c.wait) {
			held++
		}
	}
	return held / float64(max(len(cases), 1))
}

func predictedHours(c judged) float64 { return c.predicted.Value }

// blocks puts intervals about the error and the gain.
func (r *Report) blocks(cases []judged, best int) error {
	blocks := uncertainty.Blocks(cases, func(c judged) int64 { return c.block })
	off := func(blocks [][]judged, value func(judged) float64) float64 {
		sum, n := 0., 0.
		for _, b := range blocks {
			for _, c := range b {
				sum += math.Abs(value(c) - c.wait)
				n++
			}
		}
		return sum / n
	}
	mae := func(b [][]judged) float64 { return off(b, predictedHours) }
	gain := func(b [][]judged) float64 {
		least := off(b, func(c judged) float64 { return c.simple[best] })
		if least == 0 {
			return 0
		}
		return 1 - off(b, predictedHours)/least
	}
	r.MAE, r.Gain = uncertainty.Point(mae(blocks)), uncertainty.Point(gain(blocks))
	if len(blocks) < 2 {
		return nil
	}
	var err error
	if r.MAE, err = uncertainty.Bootstrap(blocks, mae, uncertainty.Resampling{}); err == nil {
		r.Gain, err = uncertainty.Bootstrap(blocks, gain, uncertainty.Resampling{})
	}
	return err
}

func figures(cases []judged, value func(judged) float64) Figures {
	predicted, waits := make([]float64, len(cases)), make([]float64, len(cases))
	off := make([]float64, len(cases))
	var f Figures
	n := float64(len(cases))
	for i, c := range cases {
		predicted[i], waits[i] = value(c), c.wait
		off[i] = math.Abs(predicted[i] - c.wait)
		f.MAEHours += off[i] / n
		if off[i] <= 1./6 {
			f.Within10Min += 1 / n
		}
		if off[i] <= 1 {
			f.Within1H += 1 / n
		}
	}
	f.MedianAEHours = stats.Median(off)
	if rho, err := regression.Spearman(predicted, waits); err == nil {
		f.Spearman = rho
	}
	return f
}

// ClassMedian returns the mean absolute error, in hours, of the simplest forecast worth
// beating, the median of the latest waits of jobs of such size and limit, for the jobs
// submitted from from on and before to, Unix seconds; 0 if there are none.
func ClassMedian(jobs []trace.Job, from, to int64) float64 {
	r := wait.NewReplay(jobs)
	sum, n := 0.0, 0.0
	for i := range jobs {
		j := &jobs[i]
		if j.Submit >= to {
			break
		}
		r.Advance(j.Submit, func(int) {})
		if j.Submit >= from && !j.NoStart {
			sum += math.Abs(r.Rules(j).Class-float64(j.Wait())) / 3600
			n++
		}
		r.Submit(i)
	}
	return sum / max(n, 1)
}
