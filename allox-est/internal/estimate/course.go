package estimate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/stats"
)

// course describes the progress of a job as the laps show it.
type course struct {
	warm  int      // laps of warm-up
	out   [][]bool // by run and lap: it stands out
	cost  cost
	steps float64            // the highest level seen in the laps over the lowest, noise taken off
	base  map[string]float64 // the median time of a unit in each stage
}

// rate returns the undisturbed time of a lap's units, in a job of stages over that of its
// stage.
func (c *course) rate(l lap) float64 {
	if base := c.base[l.stage]; base > 0 {
		return l.rate(quietTime) / base
	}
	return l.rate(quietTime)
}

// medianRates returns the median times of a unit in each stage; nil of a job that has none.
func medianRates(ts []trace, job Job) map[string]float64 {
	if job.Stages == nil {
		return nil
	}
	rates := map[string][]float64{}
	for l := range allLaps(ts) {
		rates[l.stage] = append(rates[l.stage], l.rate(quietTime))
	}
	medians := map[string]float64{}
	for stage, xs := range rates {
		medians[stage] = stats.Median(xs)
	}
	return medians
}

// findCourse finds the warm-up, then the laps that stand out after it and when they may
// come again.
func findCourse(ts []trace, job Job) course {
	c := course{base: medianRates(ts, job)}
	c.mark(ts, c.warmUp(ts))
	c.steps = c.levels(ts)
	return c
}

// steady calls visit with each lap after the warm-up.
func (c *course) steady(ts []trace, visit func(run, i int, l lap)) {
	for run, t := range ts {
		for i, l := range t.laps {
			if i >= c.warm || t.settled {
				visit(run, i, l)
			}
		}
	}
}

// plain calls visit with those of them that hold no cost.
func (c *course) plain(ts []trace, visit func(run, i int, l lap)) {
	c.steady(ts, func(run, i int, l lap) {
		if c.out == nil || !c.out[run][i] {
			visit(run, i, l)
		}
	})
}

// warmUp returns how many laps at the start take longer than those of the later
// half of the samples. Taking a lap for warm-up that is none costs a little data;
// the other way round it costs a bias.
func (c *course) warmUp(ts []trace) int {
	longest := 0
	for _, t := range ts {
		if !t.settled {
			longest = max(longest, len(t.laps))
		}
	}
	at := make([][]float64, longest)
	var late []float64
	for _, t := range ts {
		for i, l := range t.laps {
			if !t.settled {
				at[i] = append(at[i], c.rate(l))
			}
			if t.settled || i >= max(len(t.laps)/2, min(2, longest/2)) { // a run that ends where others begin to settle says nothing of the level
				late = append(late, c.rate(l))
			}
		}
	}
	usual := 0.0
	if len(late) > 0 {
		usual = stats.Median(late)
	}
	if usual <= 0 {
		return 0 // the marks are finer than the clock
	}
	noise := deviation(late) / usual
	warm := 0
	for ; warm < longest-1; warm++ {
		here := at[warm]
		if len(here) == 0 || mean(here) <= usual*(1+max(0.1, 2*noise/math.Sqrt(float64(len(here))))) {
			break
		}
	}
	if longest > 2 && warm > longest/2 {
		return 0 // it never settles: that is a trend
	}
	return warm
}

// mark finds the laps that stand out after a warm-up: a cost without a name.
func (c *course) mark(ts []trace, warm int) {
	c.warm, c.out = warm, nil
	var rates []float64
	c.plain(ts, func(_, _ int, l lap) { rates = append(rates, c.rate(l)) })
	limit := math.Inf(1)
	if len(rates) >= 4 {
		m := stats.Median(rates)
		limit = m + 5*max(deviation(rates), 0.01*m)
	}
	out := make([][]bool, len(ts))
	for run, t := range ts {
		out[run] = make([]bool, len(t.laps))
	}
	var has, lacks []lap
	c.plain(ts, func(run, i int, l lap) {
		if out[run][i] = c.rate(l) > limit; out[run][i] {
			has = append(has, l)
		} else {
			lacks = append(lacks, l)
		}
	})
	c.out = out
	c.cost.laps = float64(len(has) + len(lacks))
	if len(has) > 0 {
		c.cost.patterns = patterns(has, lacks)
	}
}

// A change along a run is a trend if it has at least trendErrors standard errors and explains
// at least trendShare of the variance. Noise of correlation 0.9 over 15 laps rarely does.
const (
	trendErrors = 8
	trendShare  = 0.5
	trendLaps   = 5
)

// findTrend returns the relative change of a unit's time along the first run from one unit to
// the next, and the unit in the middle of its laps; 0 where there is no trend.
func (c *course) findTrend(ts []trace) (slope, middle float64) {
	var xs, ys []float64
	c.plain(ts, func(run, _ int, l lap) {
		if run == 0 {
			xs = append(xs, (l.from+l.to)/2)
			ys = append(ys, c.rate(l))
		}
	})
	if len(xs) < trendLaps {
		return 0, 0
	}
	alpha, beta := stat.LinearRegression(xs, ys, nil, false)
	share := stat.RSquared(xs, ys, nil, alpha, beta)
	errors := math.Sqrt(share * float64(len(xs)-2) / max(1e-12, 1-share))
	if !(share >= trendShare) || errors < trendErrors {
		return 0, 0
	}
	middle = mean(xs)
	return beta / (alpha + beta*middle), middle
}

// levels returns the highest level over the lowest, each the mean of an eighth of a run's
// laps, those that stand out too, less three standard errors of either; 1 of few. The laps that
// a coarse clock reads alternate: their errors are large.
func (c *course) levels(ts []trace) float64 {
	byRun := make([][]float64, len(ts))
	c.steady(ts, func(run, _ int, l lap) { byRun[run] = append(byRun[run], c.rate(l)) })
	most := 1.0
	for _, xs := range byRun {
		low, high := math.Inf(1), 0.0
		parts := min(8, len(xs)/3)
		for k := range parts {
			part := xs[k*len(xs)/parts : (k+1)*len(xs)/parts]
			m, noise := mean(part), 3*math.Sqrt(variance(part)/float64(len(part)))
			low, high = min(low, m+noise), max(high, m-noise)
		}
		if low > 0 && high > 0 {
			most = max(most, high/low)
		}
	}
	return most
}

// checkStages returns an error unless the laps meet each stage of a job.
func (j Job) checkStages(ts []trace) error {
	for _, s := range j.Stages {
		met := false
		for l := range allLaps(ts) {
			met = met || l.stage == s.Name
		}
		if !met {
			return fmt.Errorf("%w: no sample covers %s", ErrStages, s.Name)
		}
	}
	return nil
}
