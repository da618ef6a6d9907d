package perfmodel

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/mixture"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Entry is the model of one task function.
type Entry struct {
	name       string
	model      *Model
	footprints map[uint64]*Footprint
	cached     [64]*Footprint // those met last, by the low bits of their hash
	width      int            // features of the power law: the most of any footprint

	runs            int // runs observed
	learned         int // of them, those it learned from
	nextFit         int // fit again at this number of them
	fits            int
	predictions     int
	dependsOnMoment bool // experts have weight whose answers depend on the moment
	fitHeld         bool // no fit yet, whatever was learned
	storedRuns      int  // learned runs that were kept from earlier program runs
	stored          int  // learned runs that Learned returned, or that were kept before
	generation      int  // restarts if kept runs were wrong
	trial           trial
	unsaved         bool // Learned has not returned the new generation yet

	intervalEnds            common  // of the tracked intervals
	logShortest, logLongest float64 // logarithms of the seconds of the shortest and the longest run

	samples  []sample // the window: the last learned runs, oldest first
	power    powerLaw
	local    localLaw
	outliers int // of the window at the last fit

	lastDistance float64 // how far the last run lay from the power law
	lastSpeed    float64
	neighbours   creations // the same of the runs created last

	mixtures [2]mixture.Mixture    // for footprints that ran, and for those that did not
	interval *uncertainty.Adaptive // of the footprints that have none of their own
}

// The mixtures of an entry: for footprints that ran, and for those that did not.
const knownSizes, newSizes = 0, 1

func newEntry(name string, m *Model) *Entry {
	return &Entry{name: name, model: m, footprints: map[uint64]*Footprint{}, nextFit: firstFit, interval: m.newInterval(), intervalEnds: common{1, 1}}
}

// mixtureIndex is the footprint's of the two mixtures.
func (f *Footprint) mixtureIndex() int {
	if f.runs == 0 {
		return newSizes
	}
	return knownSizes
}

// mixture returns the serving mixture: that of all functions until the function has enough runs
// of its own.
func (e *Entry) mixture(which int) *mixture.Mixture {
	if m := &e.mixtures[which]; m.Runs() > 0 {
		return m
	}
	return &e.model.mix[which]
}

// maxFootprints bounds the histories of one entry, which take about 1.5 kB each. Beyond it
// those with the fewest runs are dropped. A loop counter among a task's sizes makes every
// task a footprint of its own.
const maxFootprints = 1 << 13

// Name is the entry's name.
func (e *Entry) Name() string { return e.name }

// Serving is the name of the expert that answers now: the one that was asked
// for, or the heaviest of the mixture.
func (e *Entry) Serving() string {
	if e.model.serving >= 0 {
		return names[e.model.serving]
	}
	return names[e.mixture(knownSizes).Heaviest()]
}

// Weight is an expert's share of the mixture that serves sizes which ran.
func (e *Entry) Weight(expert string) float64 {
	return e.mixture(knownSizes).Weights()[expertIndex(expert)]
}

// Runs returns the number of observed runs.
func (e *Entry) Runs() int { return e.runs }

// Fits returns the number of fits.
func (e *Entry) Fits() int { return e.fits }

// Outliers returns the number of recent runs that were too far from the others to be part of
// the power law's fit.
func (e *Entry) Outliers() int { return e.outliers }

// Footprints are the entry's footprints, smallest total size first.
func (e *Entry) Footprints() []*Footprint {
	all := make([]*Footprint, 0, len(e.footprints))
	for _, f := range e.footprints {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *Footprint) int {
		return cmp.Or(cmp.Compare(totalSize(a.Sizes), totalSize(b.Sizes)), slices.Compare(a.Sizes, b.Sizes))
	})
	return all
}

// Exponents returns the exponents of the power law, one per feature, and its multiplier in
// seconds: seconds = multiplier · Π (1+size)^exponent. ok is false before the first fit and if
// no size varied.
func (e *Entry) Exponents() (multiplier float64, exponents []float64, ok bool) {
	if e.fits == 0 || e.power.fixed {
		return 0, nil, false
	}
	at := e.power.intercept
	for i, b := range e.power.b {
		at -= b * e.power.mean[i]
	}
	return math.Exp(at), slices.Clone(e.power.b), true
}

// Footprint returns the footprint of the sizes, made where it is new. It does
// not keep sizes.
func (e *Entry) Footprint(sizes []int64) *Footprint {
	key := hash(sizes)
	if f := e.cached[key%uint64(len(e.cached))]; f != nil && f.key == key {
		return f
	}
	f := e.footprints[key]
	if f == nil {
		f = e.newFootprint(key, sizes)
	}
	e.cached[key%uint64(len(e.cached))] = f
	return f
}

func (e *Entry) newFootprint(key uint64, sizes []int64) *Footprint {
	if len(e.footprints) >= maxFootprints {
		e.dropRare()
	}
	f := &Footprint{entry: e, Sizes: slices.Clone(sizes), key: key, x: features(sizes), total: totalSize(sizes), generation: e.generation}
	e.footprints[key], e.width = f, max(e.width, len(f.x))
	return f
}

// dropRare drops half of the footprints or more, those with the fewest runs first.
func (e *Entry) dropRare() {
	clear(e.cached[:])
	for most := 1; len(e.footprints) > maxFootprints/2; most *= 2 {
		maps.DeleteFunc(e.footprints, func(_ uint64, f *Footprint) bool { return f.runs+f.passed <= most })
	}
}

// Hold keeps the entry from its first answer until it is called with false, unless
// it was taught.
func (e *Entry) Hold(hold bool) {
	if e.fitHeld = hold; !hold && e.fits == 0 && e.learned >= e.nextFit {
		e.Fit()
	}
}

// Ready reports whether there is an answer: after the first fit; and for sizes
// that ran once the process has learned enough, of whatever function.
func (e *Entry) Ready(f *Footprint) bool {
	return e.fits > 0 || !e.fitHeld && f.runs > 0 && e.model.learned >= firstFit
}

// Predict answers for a footprint of this entry. The error matches
// [ErrUntrained].
func (e *Entry) Predict(f *Footprint) (Prediction, error) {
	if !e.Ready(f) {
		return Prediction{}, fmt.Errorf("%s: %w: %d, want %d", e.name, ErrUntrained, e.runs, firstFit)
	}
	return *e.PredictShared(f), nil
}

// PredictShared returns the answer of Predict. The entry must be ready. All tasks of the
// footprint share it, so it must not be changed.
func (e *Entry) PredictShared(f *Footprint) *Prediction {
	if now := (version{e.fits, f.runs, e.model.learned / consecutiveRuns, f.passed / recentRuns}); f.best == nil || f.version != now {
		p := Prediction{}
		if e.saturated(f) && !e.dependsOnMoment {
			e.follow(f, &p)
		} else {
			p = e.answer(f, Moment{})
		}
		f.best, f.version = &p, now
	}
	return f.best
}

// PredictAt predicts one task. It writes the answer to room, unless tasks share one.
func (e *Entry) PredictAt(f *Footprint, m Moment, room *Prediction) *Prediction {
	known := e.saturated(f)
	switch {
	case !known || e.sampled(f):
		*room = e.answer(f, m)
		room.whole = true
	case e.dependsOnMoment:
		*room = e.answer(f, m)
		if room.whole = false; f.tracked.value > 0 {
			room.Prediction = f.tracked.around(room.Value, e.model.options.Level, &e.intervalEnds)
		}
	default:
		e.follow(f, room)
	}
	return room
}

// follow answers by the tracked runs of a known footprint.
func (e *Entry) follow(f *Footprint, p *Prediction) {
	if f.tracked.value == 0 {
		start := e.answer(f, Moment{})
		f.tracked.start(&start)
	}
	p.answers = asleep // what is observed now judges no expert
	p.Prediction, p.Model, p.whole = f.tracked.around(f.tracked.value, e.model.options.Level, &e.intervalEnds), names[median], false
}

const (
	// learnSeconds is the measured CPU time of learning from a run, and learnShare the share of
	// the runs' time that it may take for known sizes: their five thousandth run contains
	// nothing new.
	learnSeconds = 1.6e-6
	learnShare   = 0.0005
	// timeless is the weight that experts must have together whose answers do not
	// depend on the moment, for the others not to be asked.
	timeless = 0.8
)

// saturated reports whether one more run adds little: the windows are full, and the run is short.
func (e *Entry) saturated(f *Footprint) bool {
	return e.learned >= window && f.runs >= recentRuns && f.last < learnSeconds/learnShare
}

// sampled reports whether a known run is learned from, with a probability in proportion to its
// length, by multiples of the golden ratio, which no period of a program fits.
func (e *Entry) sampled(f *Footprint) bool {
	const golden = 0x9E3779B97F4A7C15 // 2^64 / φ
	e.predictions++
	return float64(uint64(e.predictions)*golden) < f.last*(learnShare/learnSeconds)*math.MaxUint64
}

// answer is the mixture's, with the interval about it.
func (e *Entry) answer(f *Footprint, m Moment) Prediction {
	p := Prediction{answers: e.answers(f, m)}
	expert := e.model.serving
	y := math.NaN()
	if expert >= 0 {
		y = p.answers[expert]
	}
	if math.IsNaN(y) {
		y, expert = e.mixture(f.mixtureIndex()).Answer(&p.answers)
	}
	p.Prediction, p.Model = e.intervalOf(f).Predict(math.Exp(y)), names[expert]
	return p
}

// intervalOf is the interval that serves the footprint: its own, that of the
// function's other footprints, or that of all functions.
func (e *Entry) intervalOf(f *Footprint) *uncertainty.Adaptive {
	switch {
	case f.interval != nil && f.interval.Ready():
		return f.interval
	case e.interval.Ready():
		return e.interval
	}
	return e.model.interval
}

// Observe takes a run of a footprint of this entry, and learns from it. Times that
// are not finite or not above zero teach nothing.
func (e *Entry) Observe(f *Footprint, seconds float64) {
	p := &Prediction{}
	if e.Ready(f) {
		p = e.PredictAt(f, Moment{}, p)
	}
	e.ObserveAt(f, Moment{}, p, seconds)
}

// ObserveAt is Observe for one task with its prediction p from before it began; p has no value
// if there was none. The experts' answers in p are scored.
func (e *Entry) ObserveAt(f *Footprint, m Moment, p *Prediction, seconds float64) {
	if !(seconds > 0) || math.IsInf(seconds, 1) {
		return
	}
	e.runs++
	if f.generation != e.generation {
		f.forget()
	}
	if p.Value > 0 && !p.whole && e.saturated(f) && !e.onTrial() {
		e.track(f, m, p, seconds)
		return
	}
	y := math.Log(seconds)
	if p.Value > 0 {
		if e.onTrial() {
			e.try(p, y)
		}
		e.judge(f, p, y, seconds)
	}
	e.learn(f, m, seconds, y)
	if e.learned >= e.nextFit && (!e.fitHeld || e.storedRuns > 0) {
		e.Fit()
	}
}

// judge weighs the experts by a run that none of them had seen.
func (e *Entry) judge(f *Footprint, p *Prediction, y, seconds float64) {
	which := f.mixtureIndex()
	all, own := &e.model.mix[which], &e.mixtures[which]
	if own.Runs() == 0 {
		*own = all.Nested()
	}
	costs := expertCosts(seconds)
	own.Observe(&p.answers, y, costs)
	if e.learned < window || e.learned%consecutiveRuns == 0 {
		all.Observe(&p.answers, y, costs)
	}
	w := e.mixtures[knownSizes].Weights()
	e.dependsOnMoment = w[median]+w[local] < timeless
	if f.interval == nil && f.runs >= recentRuns {
		f.interval = e.model.newInterval()
	}
	for _, a := range []*uncertainty.Adaptive{f.interval, e.interval, e.model.interval} {
		if a == nil {
			continue
		}
		_ = a.Observe(p.Value, seconds) // both are above zero
		if a.Ready() {
			return // an interval of its own makes the run useless for the others
		}
	}
}

// track takes a run that the mixture does not learn from.
func (e *Entry) track(f *Footprint, m Moment, p *Prediction, seconds float64) {
	if e.dependsOnMoment {
		y := math.Log(seconds)
		e.model.speed.learn(m, y-f.level())
		f.levelled(y - e.model.speed.current(m))
	}
	if f.tracked.value == 0 {
		f.tracked.start(p)
	}
	f.tracked.end(p, seconds, e.model.options.Level)
	e.intervalEnds.end(p, seconds)
	f.tracked.move(seconds)
	f.passed++
	f.ran(seconds, m)
}

// learn takes a run, y the logarithm of its seconds.
func (e *Entry) learn(f *Footprint, m Moment, seconds, y float64) {
	if e.learned == 0 {
		e.logShortest, e.logLongest = y, y
	}
	e.logShortest, e.logLongest = min(e.logShortest, y), max(e.logLongest, y)
	if f.runs > 0 {
		e.model.speed.learn(m, y-f.level())
	}
	now := e.model.speed.current(m)
	if f.tracked.value > 0 {
		f.tracked.move(seconds)
	}
	f.ran(seconds, m)
	f.learn(y, now)
	if f.fitted(); e.fits > 0 {
		e.lastDistance, e.lastSpeed = y-f.along, now
		e.neighbours.add(m.Created, e.lastDistance)
	}
	e.learned++
	e.model.learned++
	if len(e.samples) >= 2*window {
		e.samples = e.samples[:copy(e.samples, e.samples[len(e.samples)-window:])]
	}
	e.samples = append(e.samples, sample{f: f, y: y, order: e.learned})
}

// firstAxes is the number of fits that all choose the axis of the local law, which takes the
// time of a fit for each feature: they reach until the window is full. Later ones choose it
// once in axesEvery.
const firstAxes, axesEvery = 32, 8

// Fit fits to the window. It is called by Observe when it is time.
func (e *Entry) Fit() {
	if e.learned == 0 {
		return
	}
	e.fits++
	e.samples = slices.Delete(e.samples, 0, max(0, len(e.samples)-window))
	e.power, e.outliers = fitRobust(e.samples, e.width)
	axis := -1
	if e.fits > firstAxes && e.fits%axesEvery != 0 && (e.local.axis == 0 || e.power.b[e.local.axis-1] != 0) {
		axis = e.local.axis
	}
	e.local, e.model.places = fitAxis(e.samples, &e.power, axis, e.model.places)
	e.nextFit = e.learned + max(8, min(e.learned/4, window))
}
