package estimate

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// random is where draws come from; the same for every estimate, so that the same
// runs give the same bytes.
type random struct{ *rand.Rand }

func newRandom() *random { return &random{rand.New(rand.NewPCG(95, 5))} }

// student draws from Student's t.
func (r *random) student(df float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: df, Src: r}.Rand()
}

// draws is how many of the posterior an interval is made of.
const draws = 3000

// The beliefs before looking. DESIGN.md lists where each comes from.
const (
	noiseSD    = 0.05  // of a lap's noise, relative, worth one observation
	betweenSD  = 0.02  // of the difference between runs, relative
	onceSD     = 0.10  // of set-up, teardown and warm-up, relative, worth onceDF observations
	onceDF     = 3     //
	driftSD    = 0.04  // of what the rest of a job is slower or faster than what is seen
	driftDF    = 4     // of Student's t that it follows
	driftNoise = 15    // times the relative variance of a lap: more of it in a run seen alone
	comesBack  = 0.3   // that a slow first unit, or slow units whose reason is unknown, come again
)

// model predicts one clock of a job.
type model struct {
	ts       []trace
	course   *course
	job      Job
	seen     float64 // units done by the one run whose rest is asked for; 0 of a new run
	alone    bool
	evidence bool
	gap      float64 // standard error of a run's laps together, in seconds
	level    float64 // of the interval
}

// parts are what a total is made of, in seconds.
type parts struct {
	lead, warm float64 // set-up and teardown; the warm-up's excess
	stages     []stagePart
	count      float64 // units
	high       float64 // excess of a lap that stands out
	first      float64 // excess of a first unit, which may come again
	hidden     float64 // what holds a first unit that no mark bounds
	costs      []cost
	level      level
}

// stagePart is a stage's units still to come, a unit's mean time, and the laps of it seen.
type stagePart struct{ count, rate, laps float64 }

// predict draws totals. Extra adds to each what only one clock knows of.
func (m *model) predict(k clock, extra func(total float64, p *parts, rng *random) float64) (uncertainty.Prediction, *parts) {
	p := m.parts(k)
	rng := newRandom()
	totals := make([]float64, draws)
	drift := m.drift(p)
	for i := range totals {
		body := m.body(p, rng) * math.Exp(drift*rng.student(driftDF))
		once := p.lead + p.warm
		once *= max(0.2, 1+onceSD*rng.student(onceDF)*math.Sqrt(1+1/float64(len(m.ts))))
		totals[i] = once + body + m.events(p, rng) + m.costs(p, rng)
		if extra != nil {
			totals[i] = extra(totals[i], p, rng)
		}
	}
	value := p.lead + p.warm + m.expected(p)
	slices.Sort(totals)
	tail := (1 - m.level) / 2
	low, high := stats.Sorted(totals).Quantile(tail), stats.Sorted(totals).Quantile(1-tail)
	for _, c := range p.costs {
		if len(c.spent) == 0 { // it may take a unit's time
			high += c.times * p.rate()
		}
	}
	return uncertainty.Prediction{Value: value, Low: max(0, min(low, value)), High: max(high, value), Level: m.level}, p
}

// drift is the scale of what the rest is slower or faster. The steps of one run that
// follow each other vary more later where they already vary; of several runs the
// difference between them tells.
func (m *model) drift(p *parts) float64 {
	if !m.alone {
		return driftSD
	}
	noise := p.level.noise()
	return driftSD + min(2*driftSD, driftNoise*noise*noise)
}

// rate is the mean time of a unit to come.
func (p *parts) rate() float64 {
	s, n := 0.0, 0.0
	for _, stage := range p.stages {
		s, n = s+stage.count*stage.rate, n+stage.count
	}
	if n == 0 {
		return 0
	}
	return s / n
}

// body draws the units' own time.
func (m *model) body(p *parts, rng *random) float64 {
	own := p.level.draw(rng, p.count/m.lapUnits())
	s := 0.0
	for _, stage := range p.stages {
		factor := 1.0
		if len(p.stages) > 1 {
			factor += noiseSD * rng.NormFloat64() / math.Sqrt(max(1, stage.laps))
		}
		s += stage.count * stage.rate * factor
	}
	if m.course.slope != 0 && rng.Float64() < 0.5 {
		s *= m.grown(m.course.slope * (1 + 2*m.course.slopeSD*rng.NormFloat64()))
	}
	return s * max(0.05, 1+own)
}

// grown is the factor of the units to come if the trend goes on to the end.
func (m *model) grown(slope float64) float64 {
	middle, n := 0.0, 0.0
	m.course.plain(m.ts, func(_, _ int, l lap) {
		middle += (l.from + l.to) / 2
		n++
	})
	return max(0.1, 1+slope*((m.seen+float64(m.job.Epochs))/2-middle/n))
}

func (m *model) lapUnits() float64 { return max(1e-9, longestLap(m.ts)) }

// events draws what laps that stand out add, and a first unit that comes again.
func (m *model) events(p *parts, rng *random) float64 {
	s := 0.0
	if n := float64(m.course.outliers); n > 0 && (m.evidence || rng.Float64() < 1-comesBack) {
		size := p.high * max(0, 1+noiseSD*rng.student(n)/math.Sqrt(n))
		s += size * m.times(rng)
	}
	first, odds := p.first, comesBack
	if p.hidden > 0 {
		first, odds = p.hidden*rng.Float64(), comesBack/3
	}
	if first > 0 && rng.Float64() < odds {
		longest := 1.0
		for _, t := range m.ts {
			longest = max(longest, t.length)
		}
		period := longest * math.Pow(max(1, float64(m.job.Epochs)/longest), rng.Float64())
		s += first * max(0, float64(m.job.Epochs)/period-1)
	}
	return s
}

// times draws how often laps that stand out come in the rest.
func (m *model) times(rng *random) float64 {
	at := rng.Float64()
	for _, f := range m.course.patterns {
		if at -= f.weight; at > 0 {
			continue
		}
		if f.period > 0 {
			return f.among(m.begin(), float64(m.job.Epochs))
		}
		k, n := float64(m.course.outliers), m.steadyLaps()
		rate := distuv.Gamma{Alpha: k + 0.5, Beta: n, Src: rng}.Rand() * (float64(m.job.Epochs) - m.begin()) / m.lapUnits()
		return max(0, rate+math.Sqrt(rate)*rng.NormFloat64())
	}
	return 0
}

func (m *model) steadyLaps() float64 {
	n := 0.0
	m.course.steady(m.ts, func(int, int, lap) { n++ })
	return n
}

// begin is the first unit that is asked for, or comes after the warm-up.
func (m *model) begin() float64 { return max(m.seen, float64(m.course.warm)) }

// expected is the mean of body, events and costs; slow laps of which nothing tells
// why do not count.
func (m *model) expected(p *parts) float64 {
	s := 0.0
	for _, stage := range p.stages {
		s += stage.count * stage.rate
	}
	s *= 1 + p.level.mean()
	for _, f := range m.course.patterns {
		times := float64(m.course.outliers) / m.steadyLaps() * (float64(m.job.Epochs) - m.begin()) / m.lapUnits()
		if f.period > 0 {
			times = f.among(m.begin(), float64(m.job.Epochs))
		}
		if m.evidence {
			s += f.weight * times * p.high
		}
	}
	for _, c := range p.costs {
		if len(c.spent) > 0 {
			s += c.times * mean(c.spent)
		}
	}
	return s
}

// costs draws what costs by name add.
func (m *model) costs(p *parts, rng *random) float64 {
	s := 0.0
	for _, c := range p.costs {
		k := float64(len(c.spent))
		if k == 0 {
			continue
		}
		times := c.times
		if c.random {
			times *= distuv.Gamma{Alpha: k + 0.5, Beta: k, Src: rng}.Rand()
		}
		noise := math.Sqrt((variance(c.spent)*(k-1) + noiseSD*noiseSD*mean(c.spent)*mean(c.spent)) / k)
		s += times * (mean(c.spent) + noise*rng.student(k)/math.Sqrt(k))
	}
	return s
}
