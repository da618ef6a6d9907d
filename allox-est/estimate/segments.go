package estimate

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/shared/uncertainty"
)

// bySegments estimates from the laps of the runs that tell them.
func (e *Estimate) bySegments(runs []journal.Run, job Job, s Settings) error {
	var marked []journal.Run
	for _, r := range runs {
		if len(r.Laps) > 2 {
			marked = append(marked, r)
		}
	}
	if len(marked) == 0 {
		if s.Method != Auto {
			return fmt.Errorf("%s: %w", s.Method, ErrNoLaps)
		}
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: a line over %d whole runs", ErrUntold, len(runs)))
		return e.line(runs, job, s)
	}
	if n := len(runs) - len(marked); n > 0 {
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: %d of %d runs left out", ErrUntold, n, len(runs)))
	}

	t := split(marked, job)
	settled := t.uncontended()
	response := responseOf(marked, t, shape{})
	shape := look(response.level(marked, t), job.Every)
	response = responseOf(marked, t, shape)
	method := s.Method
	if method == Auto {
		method = decide(&t, shape)
	}
	host := hostOf(marked)
	correction, left := host.shrunk(response, marked)
	m := model{epochs: job.Epochs, level: s.Level, method: method, shape: shape, speed: response.prior(marked).widened(left)}
	m.cutting = cutting(marked)
	onCPU := m // processor time varies with the machine's speed as a whole
	m.speed.sd *= busy(&t)
	share := busy(&t)
	e.hostDoubt = host.unknown(left, share)
	e.Uncontended = m.predict(t.quiet).Times(1 + share*(correction-1))
	e.CPU = onCPU.predict(t.cpu).Times(correction)
	lasting := contended(settled, t.quiet)
	asNow := m
	asNow.speed, asNow.cutting = m.speed.with(lasting), 0 // wall times are the job's own
	wall := asNow.predict(settled)
	e.Wall = wall.Times(1 + share*(correction-1))
	e.Wall.Low = max(e.Wall.Low, min(e.Uncontended.Low, e.Wall.Value)) // no contention is the least
	if t.contended > 0 {
		// What slowed the samples for a while may slow the job as often.
		e.Wall.High = max(e.Wall.High, e.Wall.Value+t.slowdown(settled, s.Level)*float64(job.Epochs))
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: other work slowed %d of %d %ss for a while; corrected, the upper end allows for as much again", ErrContention, t.contended, t.all, job.unit()))
	}
	if lasting > 0.1 {
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: %.0f %% of the %ss' time was spent waiting for a processor; the job's will be as long only if the machine stays as busy", ErrContention, 100*lasting, job.unit()))
	}
	if load := meanLoad(marked); job.Device == "cpu" && load > 1.2 && lasting < 1-1/load {
		// The samples were lucky; a fair share of the processors is less. A job
		// waits for a processor only when it would compute.
		e.Wall.High = max(e.Wall.High, (1+busy(&t)*(load-1))*e.Uncontended.Value)
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: the load was %.1f times the processors, yet the samples waited little; the upper end allows for a fair share", ErrContention, load))
	}
	e.Segments = &Segments{Setup: wall.setup, WarmUp: shape.warm, Epoch: wall.epoch, Teardown: wall.teardown, Period: shape.period, Costs: m.costs(settled)}
	for _, c := range e.Segments.Costs {
		if c.Seconds == nil {
			e.Warnings = slices.Insert(e.Warnings, 0, fmt.Errorf("%w: %w: %s, every %d %ss; the upper end allows it the time of one", ErrUnsure, ErrUnmet, c.Name, c.Every, job.unit()))
		}
	}
	e.reference(marked, t, m, response, host)
	if e.hostDoubt != "" {
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: %s earlier runs; the intervals allow for it", ErrVirtual, e.hostDoubt))
	}
	if response.useless {
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: no correction by it", ErrYardstick))
	}
	e.Method = m.name(s.Method)
	e.Warnings = append(e.Warnings, shape.warnings(response.level(marked, t), job.unit())...)
	return nil
}

// cutting is the standard error with which processor time and wait are cut at the two ends of a
// run's epochs: they are read every 20 ms, later on a busy machine, and taken
// to grow evenly between.
func cutting(runs []journal.Run) float64 {
	const interval = 0.020
	var gaps []float64
	for _, r := range runs {
		if len(r.LapWait) > 0 {
			gaps = append(gaps, max(interval, r.Gap))
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	return math.Sqrt(2) * mean(gaps) / math.Sqrt(12)
}

// meanLoad returns the mean load average per processor while sampling; 0 where it
// is not known.
func meanLoad(runs []journal.Run) float64 {
	var perCPU []float64
	for _, r := range runs {
		if r.CPUs > 0 {
			perCPU = append(perCPU, r.Load/float64(r.CPUs))
		}
	}
	if len(perCPU) == 0 {
		return 0
	}
	return mean(perCPU)
}

// busy returns the share of the undisturbed time that was spent computing, at
// most 1: the rest does not depend on the processor's speed.
func busy(t *tracks) float64 {
	var quiet, cpu float64
	for s := range t.quiet {
		quiet += t.quiet[s].setup + t.quiet[s].teardown + sum(t.quiet[s].epochs)
		cpu += t.cpu[s].setup + t.cpu[s].teardown + sum(t.cpu[s].epochs)
	}
	if quiet <= 0 {
		return 1
	}
	return min(1, cpu/quiet)
}

// decide is what Auto does with the laps: the mean, unless epochs stand out
// and nothing tells whether they will come again.
func decide(t *tracks, shape shape) Method {
	if shape.outliers > 0 && !t.evidence {
		return Huber
	}
	return Mean
}

// prior is the prior of a relative standard deviation before looking:
// its value, and how many observations that is worth.
type prior struct{ sd, df float64 }

// moderate combines an observed variance with the prior one of a quantity of
// the given size (Smyth 2004, Linear models and empirical Bayes methods,
// section 4.1: the posterior variance and its degrees of freedom).
func (p prior) moderate(size, variance, df float64) (float64, float64) {
	before := p.sd * size * p.sd * size
	return (p.df*before + df*variance) / (p.df + df), p.df + df
}

// Beliefs about the noise of set-up and teardown, of an epoch, and of warm-up.
var (
	segmentPrior = prior{sd: 0.05, df: 3}
	epochPrior   = prior{sd: 0.05, df: 1}
	warmPrior    = prior{sd: 0.10, df: 3}
)

// with adds the doubt about contention that lasts. Whole runs on a machine where
// jobs waited for the share w of their time differed by about w/2 (DESIGN.md).
func (p prior) with(waited float64) prior {
	if waited < 0.02 {
		return p
	}
	return prior{math.Hypot(p.sd, waited/2), max(p.df, 6)}
}

// model predicts the total of a quantity over a whole job.
type model struct {
	epochs  int
	level   float64
	method  Method
	shape   shape
	speed   prior
	cutting float64 // of a run's epochs together, in seconds
}

// name tells the method, and under Auto the decision.
func (m model) name(asked Method) string {
	switch {
	case asked != Auto:
		return string(asked)
	case m.shape.period > 0:
		return "auto/periodic"
	}
	return "auto/" + string(m.method)
}

// part is what a segment adds to a total: its mean over jobs, the variance of
// the difference between it and what a new run will show, and how well that
// variance is known.
type part struct{ mean, variance, df float64 }

// total is a prediction with its segments.
type total struct {
	uncertainty.Prediction
	setup, epoch, teardown float64
}

// predict adds up the segments. The interval is that of one new run: it holds
// the doubt in the means, the difference between runs, and the new run's own
// noise, with degrees of freedom after Satterthwaite (1946).
func (m model) predict(ts []track) total {
	warm := min(m.shape.warm, m.epochs)
	setup := m.once(ts, segmentPrior, func(t track) float64 { return t.setup })
	teardown := m.once(ts, segmentPrior, func(t track) float64 { return t.teardown })
	warmUp := m.once(longer(ts, warm), warmPrior, func(t track) float64 { return sum(t.epochs[:warm]) })
	steady, rare, extra := m.steady(ts, warm)

	parts := append([]part{setup, teardown, warmUp}, steady...)
	below, above := rare.mean-extra.low, extra.high-rare.mean
	for _, o := range m.shape.reported {
		p, less, more := m.occurring(ts, o)
		parts, below, above = append(parts, p), below+less, above+more
	}
	value, v, weight := rare.mean, 0.0, 0.0
	for _, p := range parts {
		value += p.mean
		v += p.variance
		if p.df > 0 {
			weight += p.variance * p.variance / p.df
		}
	}
	df := 1e6
	if weight > 0 {
		df = v * v / weight
	}
	half := student(m.level, df) * math.Sqrt(v)
	p := uncertainty.Prediction{Value: value, Level: m.level}
	p.Low = max(0, value-math.Hypot(half, below))
	p.High = value + math.Hypot(half, above) + extra.again
	count := float64(m.epochs - warm - hidden(ts))
	epoch := steady[0].mean + rare.mean
	if count > 0 {
		epoch /= count
	}
	return total{p, setup.mean, epoch, teardown.mean}
}

// hidden is how many epochs of a run lie within its set-up or teardown.
func hidden(ts []track) int { return max(0, ts[0].run-len(ts[0].epochs)) }

// longer keeps the tracks that show more epochs than n.
func longer(ts []track, n int) []track {
	var kept []track
	for _, t := range ts {
		if len(t.epochs) > n {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return ts[:1]
	}
	return kept
}

// once is a segment that a run has once.
func (m model) once(ts []track, p prior, seconds func(track) float64) part {
	xs := make([]float64, len(ts))
	for i, t := range ts {
		xs[i] = seconds(t)
	}
	n := float64(len(xs))
	// The machine's speed differs from run to run; the segment's own noise is
	// believed to be at least that of the prior.
	p.sd = math.Hypot(p.sd, m.speed.sd)
	v, df := p.moderate(mean(xs), variance(xs), n-1)
	return part{mean(xs), v * (1 + 1/n), df}
}

// bounds of a cost that comes at random, and the most that the first epoch's
// would add if it came back.
type bounds struct{ low, high, again float64 }

// steady is the epochs after the warm-up: the plain ones, and those that stand
// out, as a cost with a period or as one that comes at random.
func (m model) steady(ts []track, warm int) (parts []part, rare part, extra bounds) {
	var groups [][]float64
	var high []float64
	seen := 0
	for i, t := range ts {
		var plain []float64
		for k := min(warm, len(t.epochs)-1); k < len(t.epochs); k++ {
			if m.shape.has(t.first + k) {
				continue
			}
			seen++
			if m.keepsOutliers() && m.shape.out[i][k] {
				high = append(high, t.epochs[k])
				continue
			}
			plain = append(plain, t.epochs[k])
		}
		if len(plain) > 0 {
			groups = append(groups, plain)
		}
	}
	if len(groups) == 0 { // every epoch stands out: none does
		m.shape = shape{warm: m.shape.warm, out: blank(m.shape.out), reported: m.shape.reported}
		return m.steady(ts, warm)
	}
	count := float64(max(0, m.epochs-warm-hidden(ts)))
	l := locate(groups, m.method, m.speed, m.cutting)
	parts = []part{
		{count * l.mean, count*count*l.within + count*l.noise, l.withinDF},
		{0, count * count * (l.between + l.spread), l.spreadDF},
	}
	extra.again = m.again(ts, l.mean)
	for _, c := range m.shape.named {
		if math.IsNaN(m.excess(ts, c)) { // it may take an epoch's time
			extra.again += float64(c.among(warm, m.epochs)) * l.mean
			continue
		}
		parts = append(parts, m.named(ts, c, l))
	}
	if len(high) == 0 {
		return parts, rare, extra
	}
	excess := mean(high) - l.mean
	if m.shape.period > 0 {
		times := float64(m.shape.costly(m.epochs))
		// A costly epoch is taken to be as noisy, relatively, as a plain one.
		v, df := relative(l).moderate(mean(high), variance(high), float64(len(high)-1))
		parts = append(parts, part{0, v * (times + times*times/float64(len(high))), df})
		parts[0].mean += times * excess
		return parts, rare, extra
	}
	k, n := float64(len(high)), float64(seen)
	low, up := poisson(k, m.level)
	rare.mean = count * excess * k / n
	extra.low, extra.high = max(0, count*excess*low/n), count*excess*up/n
	return parts, rare, extra
}

// named is what a cost with a known period adds to the job.
func (m model) named(ts []track, c named, plain location) part {
	high := m.met(ts, c)
	times := float64(c.among(m.shape.warm, m.epochs))
	if times == 0 {
		return part{}
	}
	// An epoch with the cost is taken to be as noisy, relatively, as a plain one.
	v, df := relative(plain).moderate(mean(high), variance(high), float64(len(high)-1))
	return part{times * (mean(high) - plain.mean), v * (times + times*times/float64(len(high))), df}
}

// met are the epochs after the warm-up that have a cost, less what those of
// shorter periods add to them; those that have one of a longer period too only
// where there are no others.
func (m model) met(ts []track, c named) []float64 {
	var alone, shared []float64
	for _, t := range ts {
		for k := m.shape.warm; k < len(t.epochs); k++ {
			number := t.first + k
			if !c.in(number) {
				continue
			}
			x, longer := t.epochs[k], false
			for _, other := range m.shape.named {
				switch {
				case other == c || !other.in(number):
				case other.period < c.period:
					x -= m.excess(ts, other)
				default:
					longer = true
				}
			}
			if longer {
				shared = append(shared, x)
			} else {
				alone = append(alone, x)
			}
		}
	}
	if len(alone) == 0 {
		return shared
	}
	return alone
}

// excess is what a cost adds to an epoch; NaN where no sample has met it.
func (m model) excess(ts []track, c named) float64 {
	var plain []float64
	for _, t := range ts {
		for k := min(m.shape.warm, len(t.epochs)); k < len(t.epochs); k++ {
			if !m.shape.has(t.first + k) {
				plain = append(plain, t.epochs[k])
			}
		}
	}
	high := m.met(ts, c)
	if len(high) == 0 || len(plain) == 0 {
		return math.NaN()
	}
	return mean(high) - mean(plain)
}

// costs are the named costs as the samples show them.
func (m model) costs(ts []track) []Cost {
	var costs []Cost
	for _, c := range m.shape.named {
		cost := Cost{Name: c.name, Every: c.period}
		if x := m.excess(ts, c); !math.IsNaN(x) {
			cost.Seconds = &x
		}
		costs = append(costs, cost)
	}
	for _, o := range m.shape.reported {
		seconds := mean(o.spent(ts))
		costs = append(costs, Cost{Name: o.name, Every: o.period, Seconds: &seconds})
	}
	return costs
}

// again is what a slow first epoch would add if it were no warm-up but an
// evaluation, or a checkpoint, that comes with a period: at most as often as
// the longest sample, which did not meet it again, fits in the job.
func (m model) again(ts []track, epoch float64) float64 {
	if m.shape.warm != 1 {
		return 0
	}
	longest := 0
	var firsts []float64
	for _, t := range ts {
		longest = max(longest, len(t.epochs))
		firsts = append(firsts, t.epochs[0])
	}
	return max(0, mean(firsts)-epoch) * float64(max(0, m.epochs-longest)/longest)
}

// relative is the noise of a plain epoch as a share of it.
func relative(l location) prior {
	if l.mean <= 0 {
		return epochPrior
	}
	return prior{math.Sqrt(l.noise) / l.mean, l.withinDF}
}

// keepsOutliers says that epochs that stand out are counted as costs of their
// own. The robust methods treat them as noise.
func (m model) keepsOutliers() bool { return m.method == Mean }

func blank(out [][]bool) [][]bool {
	b := make([][]bool, len(out))
	for i := range out {
		b[i] = make([]bool, len(out[i]))
	}
	return b
}

// poisson is the exact interval of the mean of a Poisson count (Garwood 1936).
func poisson(k, level float64) (low, high float64) {
	tail := (1 - level) / 2
	if k > 0 {
		low = distuv.ChiSquared{K: 2 * k}.Quantile(tail) / 2
	}
	return low, distuv.ChiSquared{K: 2*k + 2}.Quantile(1-tail) / 2
}
