package estimate

import (
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Prior beliefs: relative standard deviations, factors and probabilities. Noise, runs,
// set-up and returns were set on every other scenario of TestStatisticsMonteCarlo,
// drift on every other recorded series.
const (
	// noiseSD is the noise of a lap, worth one observation: epochs of quiet jobs, 1 to 6 %.
	noiseSD = 0.05
	// betweenSD is the difference between runs, worth betweenWorth of them: runs of one
	// benchmark on 30 machines, 1.2 to 7.5 %.
	betweenSD    = 0.03
	betweenWorth = 3
	// onceSD is the noise of set-up, teardown and warm-up, of Student's t of 4: set-up of
	// real jobs, 5 to 15 %.
	onceSD = 0.10
	// driftSD is the change of the rest of a job compared with its samples, of Student's t of 4:
	// later parts of steps-azure against the first 3 %, odd workers of steps-pai.
	driftSD = 0.04
	// driftNoise, times the relative variance of a lap, is added to driftSD in a run seen
	// alone, at most 3 driftSD: the same series.
	driftNoise = 30
	// comesBack is the probability that a slow first unit, or a possible disturbance,
	// comes again: scenarios of bursts, stalls and evaluations.
	comesBack = 0.3
)

// draws is the number of draws from the posterior for an interval.
const draws = 5000

// predict draws totals of one clock, in seconds, ascending. Extra, where there is
// any, changes each as that clock needs it.
func (m *model) predict(k clock, extra func(total float64, p *parts, rng *random) float64) (uncertainty.Prediction, *parts, []float64) {
	p := m.parts(k)
	rng := newRandom()
	totals := make([]float64, draws)
	drift := m.drift(p)
	for i := range totals {
		units := p.units * max(0.05, 1+p.level.draw(rng, p.count/m.lap))
		once := 1 + onceSD*rng.student()*math.Sqrt(1+1/float64(len(m.ts)))
		totals[i] = p.once*max(0.2, once) + units*math.Exp(drift*rng.student()) + m.first(p, rng)
		totals[i] += m.course.cost.draw(k, m.from(), m.to(), m.lap, rng)
		if extra != nil {
			totals[i] = extra(totals[i], p, rng)
		}
	}
	slices.Sort(totals)
	tail := (1 - m.level) / 2
	value := p.once + p.units*(1+p.level.mean)
	value += m.course.cost.mean(k, m.from(), m.to(), m.lap)
	return uncertainty.Prediction{
		Value: value, Level: m.level,
		Low: max(0, min(value, stats.Sorted(totals).Quantile(tail))), High: max(value, stats.Sorted(totals).Quantile(1-tail)),
	}, p, totals
}

// drift returns the scale of the rest's change of speed. The steps of one run that follow each
// other vary more later if they already vary; for several runs the difference between them is
// the measure.
func (m *model) drift(p *parts) float64 {
	if !m.alone {
		return driftSD
	}
	noise := p.level.noise
	return driftSD + min(3*driftSD, driftNoise*noise*noise)
}

// first draws the time that a slow first unit adds if it is not a warm-up but an evaluation
// that returns with a period. The longer it is relative to a unit, the less likely it is one;
// if no mark bounds a first unit, it is a unit or two of the set-up, unless the units after it
// belong to a warm-up too.
func (m *model) first(p *parts, rng *random) float64 {
	unit := p.units / max(1, p.count)
	size, odds := p.first, comesBack/(1+p.first/max(unit, 1e-300))
	if p.hidden > 0 && m.course.warm == 0 {
		size, odds = min(p.hidden, 2*unit*rng.ExpFloat64()), comesBack
	}
	if size <= 0 || rng.Float64() >= odds {
		return 0
	}
	return size * (m.to()/m.period(rng) - 1)
}

// period draws one that the longest sample did not meet twice: people choose 1, 2 or 5
// times a power of ten.
func (m *model) period(rng *random) float64 {
	round := []float64{m.to()}
	for ten := 1.0; ten < m.to(); ten *= 10 {
		for _, p := range []float64{ten, 2 * ten, 5 * ten} {
			if p >= m.longest && p < m.to() {
				round = append(round, p)
			}
		}
	}
	return round[rng.IntN(len(round))]
}
