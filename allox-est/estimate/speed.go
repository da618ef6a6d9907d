package estimate

import (
	"math"
	"slices"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/shared/stats"
)

// Speed returns a run's yardstick, in seconds; NaN without one. It is the mean
// of its readings: a processor that is shared with a neighbour runs at two
// speeds, and the job gets some of both. (The readings of older journals, few
// and not beside the job, count by their median.)
func Speed(r journal.Run) float64 {
	if len(r.Yardstick) == 0 {
		return math.NaN()
	}
	if r.YardstickWork == "" {
		return stats.Median(r.Yardstick)
	}
	return mean(r.Yardstick)
}

// speeds returns the fastest and the slowest run by its yardstick. It is not
// ok where a run has none, or another one.
func speeds(runs []journal.Run) (fast, slow float64, ok bool) {
	fast, slow = math.Inf(1), 0
	for _, r := range runs {
		if len(r.Yardstick) == 0 || r.YardstickWork != runs[0].YardstickWork {
			return 0, 0, false
		}
		y := Speed(r)
		fast, slow = min(fast, y), max(slow, y)
	}
	return fast, slow, fast > 0
}

// response is how a job follows the yardstick.
type response struct {
	// sensitivity is the power of the yardstick that the processor time goes
	// with.
	sensitivity float64
	// useless says that the yardstick changed and the epochs did not follow.
	useless bool
	// doubt is the standard deviation of the sensitivity.
	doubt float64
	// older says that the readings are those of an older journal, whose work
	// was not done beside the job: there the sensitivity is taken to be 1.
	older bool
}

var olderResponse = response{sensitivity: 1, older: true}

// The prior of a sensitivity: anything from none to all.
const (
	sensitivityPrior = 0.5
	sensitivitySD    = 0.5
)

// responseOf finds the sensitivity from the steady epochs of all runs: the slope of
// the logarithm of their processor time over that of the yardstick beside them,
// combined with the belief before looking (the posterior mean of a normal slope
// with a normal prior). What the yardstick does not explain draws it towards 0,
// a yardstick that hardly changed leaves it where it was.
func responseOf(runs []journal.Run, t tracks, s shape) response {
	var xs, ys []float64
	for i, r := range runs {
		if len(r.Yardstick) > 0 && r.YardstickWork == "" {
			return olderResponse
		}
		for k, c := range t.cpu[i].epochs {
			if k < s.warm || s.out != nil && s.out[i][k] || c <= 0 || k+1 >= len(r.LapYardstick) || r.LapYardstick[k+1] <= 0 {
				continue
			}
			xs = append(xs, math.Log(r.LapYardstick[k+1]))
			ys = append(ys, math.Log(c))
		}
	}
	p := response{sensitivity: sensitivityPrior, doubt: sensitivitySD}
	df := float64(len(xs) - 2)
	if df < 1 {
		return p
	}
	var sxx, sxy, syy float64
	mx, my := mean(xs), mean(ys)
	for k, x := range xs {
		sxx += (x - mx) * (x - mx)
		sxy += (x - mx) * (ys[k] - my)
		syy += (ys[k] - my) * (ys[k] - my)
	}
	rest := syy
	if sxx > 0 {
		rest = max(0, syy-sxy*sxy/sxx)
	}
	noise, _ := epochPrior.moderate(1, rest/df, df)
	const before = 1 / (sensitivitySD * sensitivitySD)
	known := sxx/noise + before
	p.sensitivity = max(0, (sxy/noise+sensitivityPrior*before)/known)
	p.doubt = 1 / math.Sqrt(known)
	if p.doubt < sensitivitySD/2 && p.sensitivity < 2*p.doubt {
		return response{useless: true} // well enough known, and not different from none
	}
	return p
}

// factor takes a processor time from where the yardstick takes from seconds to
// where it takes to.
func (p response) factor(to, from float64) float64 {
	if !(from > 0) {
		return 1
	}
	return math.Pow(to/from, p.sensitivity)
}

// lapFactors are the factors of a run's laps to the speed to. A lap without a
// reading has its run's speed.
func (p response) lapFactors(r journal.Run, to float64) []float64 {
	run := p.factor(to, Speed(r))
	fs := make([]float64, len(r.Laps))
	for i := range fs {
		fs[i] = run
		if i < len(r.LapYardstick) && r.LapYardstick[i] > 0 {
			fs[i] = p.factor(to, r.LapYardstick[i])
		}
	}
	return fs
}

// CPUOf is the processor time that a run would have taken at the speed of the
// reference, in seconds, brought there as the samples were; NaN where its
// yardstick is another one, or none.
func (ref *Reference) CPUOf(r journal.Run) float64 {
	if ref == nil || len(r.Yardstick) == 0 || r.YardstickWork != ref.work {
		return math.NaN()
	}
	p := response{sensitivity: ref.Sensitivity}
	var laps, at float64
	if len(r.LapCPU) == len(r.Laps) {
		for i, f := range p.lapFactors(r, ref.Yardstick) {
			laps += r.LapCPU[i]
			at += r.LapCPU[i] * f
		}
	}
	if laps <= 0 {
		return r.CPU * p.factor(ref.Yardstick, Speed(r))
	}
	return r.CPU * at / laps
}

// reference adds the estimates at the fastest speed that the yardstick showed:
// the times of each lap are scaled by the speed beside it.
func (e *Estimate) reference(runs []journal.Run, t tracks, m model, p response, h host) {
	fast, _, ok := speeds(runs)
	if !ok {
		return
	}
	m.speed = steadyMachine
	doubt := p.doubt
	if p.useless {
		doubt = p.follows(h)
	}
	if doubt > 0 { // what is not known of the sensitivity counts as far as runs differ in speed
		speed := prior{}
		speed.sd, speed.df = machine(runs)
		if h.virtual {
			speed = speed.widened(h.spread)
		}
		m.speed = prior{sd: math.Hypot(m.speed.sd, doubt*speed.sd), df: speed.df}
	}
	e.Reference = &Reference{
		Yardstick: fast, Sensitivity: p.sensitivity, work: runs[0].YardstickWork,
		CPU: m.predict(p.cpuAt(runs, t, fast)).Prediction, Uncontended: m.predict(p.quietAt(runs, t, fast)).Prediction,
	}
}

// cpuAt is the processor time of runs at the speed to.
func (p response) cpuAt(runs []journal.Run, t tracks, to float64) []track {
	out := make([]track, len(runs))
	for i, r := range runs {
		out[i] = t.cpu[i].times(p.lapFactors(r, to))
	}
	return out
}

// quietAt is the undisturbed time of runs at the speed to. What of it was not
// spent computing does not depend on the speed.
func (p response) quietAt(runs []journal.Run, t tracks, to float64) []track {
	out := make([]track, len(runs))
	for i, r := range runs {
		fs := p.lapFactors(r, to)
		if !p.older {
			q := t.quiet[i].laps()
			for k, c := range t.cpu[i].laps() {
				if q[k] > 0 {
					fs[k] = 1 - min(1, c/q[k])*(1-fs[k])
				}
			}
		}
		out[i] = t.quiet[i].times(fs)
	}
	return out
}

// level is the undisturbed time with the differences in speed taken out, in
// which the job's own course shows. An older journal's readings are too far
// from the laps for that.
func (p response) level(runs []journal.Run, t tracks) []track {
	fast, _, ok := speeds(runs)
	if !ok || p.older {
		return t.quiet
	}
	return p.quietAt(runs, t, fast)
}

// laps are the parts of a track in their order.
func (t track) laps() []float64 {
	return append(append([]float64{t.setup}, t.epochs...), t.teardown)
}

// times multiplies each lap by its factor.
func (t track) times(fs []float64) track {
	out := t
	out.setup, out.teardown = t.setup*fs[0], t.teardown*fs[len(fs)-1]
	out.epochs = make([]float64, len(t.epochs))
	for k, x := range t.epochs {
		out.epochs[k] = x * fs[k+1]
	}
	out.costs = slices.Clone(t.costs)
	for i, c := range out.costs {
		out.costs[i].seconds *= fs[c.number-t.first+1]
	}
	return out
}

// steadyMachine is the prior of the variation between runs of a machine
// about which nothing is known.
var steadyMachine = prior{sd: 0.01, df: 2}

// prior is the variation from run to run that the job owes to the machine.
func (p response) prior(runs []journal.Run) prior {
	if p.older {
		return olderPrior(runs)
	}
	if p.useless {
		return steadyMachine
	}
	speed, df := machine(runs)
	return prior{sd: math.Hypot(steadyMachine.sd, p.sensitivity*speed), df: df}
}

// widened is the wider of two priors.
func (p prior) widened(q prior) prior {
	if q.sd > p.sd {
		return q
	}
	return p
}

// machine is by how much runs as short as these differ in their mean yardstick
// from a long run, as a share of it, and how well that is known: the standard
// error of a mean of readings that follow each other, or, where that is more,
// what few stays at each of two speeds leave open.
func machine(runs []journal.Run) (sd, df float64) {
	var v, independent, n float64
	for _, r := range runs {
		if len(r.Yardstick) < 8 || !(Speed(r) > 0) {
			continue
		}
		k := float64(len(r.Yardstick)) / inertia(r.Yardstick)
		v += variance(r.Yardstick) / (Speed(r) * Speed(r)) / k
		independent += k
		n++
	}
	if n == 0 {
		return 0, steadyMachine.df
	}
	sd, df = math.Sqrt(v/n), independent-n
	if s, seen := stays(runs); s > sd {
		sd, df = s, seen-n
	}
	return sd, min(10, max(steadyMachine.df, df))
}

// stays is the same for a processor with two speeds, and the number of stays
// seen, each a row of readings on one side of the middle. A sample that lies
// almost whole in one stay has readings that hardly vary, and tells little of
// the other speed's share of the time: as much as k draws of a share, k the
// number of stays, believed before to be anything (Jeffreys' prior).
func stays(runs []journal.Run) (sd, seen float64) {
	var all []float64
	for _, r := range runs {
		all = append(all, r.Yardstick...)
	}
	if len(all) < 8 {
		return 0, 0
	}
	slices.Sort(all)
	middle := math.Sqrt(all[len(all)/100] * all[len(all)*9/10])
	split, _ := slices.BinarySearch(all, middle)
	if split == 0 || split == len(all) {
		return 0, 0
	}
	for _, r := range runs {
		for i, y := range r.Yardstick {
			if i == 0 || (y < middle) != (r.Yardstick[i-1] < middle) {
				seen++
			}
		}
	}
	share := (float64(split)/float64(len(all))*seen + 0.5) / (seen + 1)
	apart := (mean(all[split:]) - mean(all[:split])) / mean(all)
	return apart * math.Sqrt(share*(1-share)/(seen+2)), seen
}

// inertia is how many readings in a row are worth one: 1 + 2 Σ of the
// autocorrelations, added up in pairs for as long as those are positive (Geyer
// 1992, Practical Markov chain Monte Carlo, section 3.3).
func inertia(xs []float64) float64 {
	m, v := mean(xs), 0.0
	for _, x := range xs {
		v += (x - m) * (x - m)
	}
	if v <= 1e-18*m*m {
		return 1
	}
	lag := func(k int) float64 {
		var c float64
		for i := k; i < len(xs); i++ {
			c += (xs[i] - m) * (xs[i-k] - m)
		}
		return c / v
	}
	sum := -1.0 // the pairs begin with lag 0
	for k := 0; k+1 < len(xs)/2; k += 2 {
		pair := lag(k) + lag(k+1)
		if pair <= 0 {
			break
		}
		sum += 2 * pair
	}
	return max(1, sum)
}

// olderPrior is the variation of an older journal's yardstick: before, during
// and after each run.
func olderPrior(runs []journal.Run) prior {
	var moments []float64
	for _, r := range runs {
		if n := len(r.Yardstick); n > 0 {
			for _, part := range [][]float64{r.Yardstick[:(n+2)/3], r.Yardstick[(n+2)/3 : n-n/3], r.Yardstick[n-n/3:]} {
				if len(part) > 0 {
					moments = append(moments, stats.Median(part))
				}
			}
		}
	}
	if len(moments) < 3 || mean(moments) <= 0 {
		return steadyMachine
	}
	return prior{sd: math.Sqrt(variance(moments)) / mean(moments), df: min(4, float64(len(moments)-1))}
}
