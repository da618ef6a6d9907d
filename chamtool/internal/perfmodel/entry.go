package perfmodel

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/interval"
	"github.com/foretime/foretime/chamtool/internal/mixture"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrUntrained is returned before an entry's first fit.
var ErrUntrained = errors.New("too few runs for a model")

// Entry is the model of one task function.
type Entry struct {
	name       string
	model      *Model
	footprints map[uint64]*Footprint
	cached     [64]*Footprint // those met last, by the low bits of their hash
	width      int            // features of the power law: the most of any footprint
	counts
	trial trial

	samples    []sample // the window: the last learned runs, oldest first
	power      powerLaw
	local      localLaw
	distance   level     // of the last runs from the power law, less the speed at which each ran
	neighbours creations // of the runs created last, from the power law
	mixtures   mixturePair
	ends       interval.Ends // for footprints that have none of their own

	dependsOnMoment         bool    // experts have most weight whose answers depend on the moment
	logShortest, logLongest float64 // logarithms of the seconds of the shortest and the longest run
}

// counts holds what happened to an entry so far.
type counts struct {
	runs        int // observed
	learned     int // of them, those it learned from
	nextFit     int // fit again at this number of them
	fits        int
	predictions int
	fitHeld     bool // no fit yet, whatever was learned
	storedRuns  int  // learned runs that were kept from earlier program runs
	stored      int  // learned runs that TakeRuns returned, or that were kept before
	generation  int  // restarts because kept runs were wrong
	running     int  // runs that began and have not been observed
	unsaved     bool // TakeRuns has not returned the new generation yet
}

// The places of a mixturePair: for tasks about which the experts agree, and for those about which
// they disagree: who is right about the last percent is often wrong about stalls.
const (
	usual = iota
	disputed
)

// mixturePair holds the mixtures of an entry, or of all entries together.
type mixturePair [2]mixture.Mixture

func newMixtures() mixturePair { return mixturePair{mixture.New(experts), mixture.New(experts)} }

// disputedLog is the distance between the logarithms of two answers that disagree.
const disputedLog = 1

// mixtureIndex returns the mixture that serves a task with these answers.
func mixtureIndex(answers *mixture.Answers) int {
	least := math.Inf(1)
	most := math.Inf(-1)
	for _, y := range answers {
		if !math.IsNaN(y) {
			least = min(least, y)
			most = max(most, y)
		}
	}
	if most-least > disputedLog {
		return disputed
	}
	return usual
}

func newEntry(name string, m *Model) *Entry {
	return &Entry{name: name, model: m, footprints: map[uint64]*Footprint{}, mixtures: newMixtures(), counts: counts{nextFit: FirstFit}}
}

// teach lets a new entry learn from kept runs, which contain nothing about the present speed.
func (e *Entry) teach(runs []StoredRun) {
	now := e.model.speed
	e.model.speed = speed{}
	for _, run := range runs {
		e.Observe(e.Footprint(run.Sizes), run.Seconds)
	}
	if e.learned >= FirstFit {
		e.Fit()
	}
	e.storedRuns = e.learned
	e.stored = e.learned
	e.trial = trial{}
	e.model.speed = now
}

// Footprint returns the footprint of the sizes, or makes it. It does not keep sizes.
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

// maxFootprints bounds the histories of one entry. Beyond it those with the fewest runs are
// dropped. A loop counter among a task's sizes makes every task a footprint of its own.
const maxFootprints = 1 << 13

func (e *Entry) newFootprint(key uint64, sizes []int64) *Footprint {
	if len(e.footprints) >= maxFootprints {
		e.dropRare()
	}
	f := &Footprint{Sizes: slices.Clone(sizes), key: key, x: features(sizes), generation: e.generation}
	e.footprints[key] = f
	e.width = max(e.width, len(f.x))
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
	e.fitHeld = hold
	if !hold && e.fits == 0 && e.learned >= e.nextFit {
		e.Fit()
	}
}

// IsReady reports whether there is an answer: after the first fit; and for sizes
// that ran once the process has learned enough, of whatever function.
func (e *Entry) IsReady(f *Footprint) bool {
	return e.fits > 0 || !e.fitHeld && f.runs > 0 && e.model.learned >= FirstFit
}

// Predict answers for a footprint of this entry. The error matches
// [ErrUntrained].
func (e *Entry) Predict(f *Footprint) (Prediction, error) {
	if !e.IsReady(f) {
		return Prediction{}, fmt.Errorf("%s: %w: %d, want %d", e.name, ErrUntrained, e.runs, FirstFit)
	}
	return *e.PredictShared(f), nil
}

// Begin counts a run that begins. It is observed later, unless its end is lost.
func (e *Entry) Begin() { e.running++ }

// ForgetRunning says that no run is under way, at the end of an iteration.
func (e *Entry) ForgetRunning() { e.running = 0 }

// PredictShared returns the answer of Predict. The entry must be ready. All tasks of the
// footprint share it, so it must not be changed.
func (e *Entry) PredictShared(f *Footprint) *Prediction {
	now := version{e.fits, f.runs, e.model.learned / consecutiveRuns, f.passed / recentRuns}
	if f.best == nil || f.version != now {
		f.best = &Prediction{}
		f.version = now
		e.answer(f, Moment{}, !e.isSaturated(f) || e.dependsOnMoment, f.best)
	}
	return f.best
}

// PredictAt predicts one task. It writes the answer to room.
func (e *Entry) PredictAt(f *Footprint, m Moment, room *Prediction) *Prediction {
	whole := !e.isSaturated(f) || e.isSampled(f)
	e.answer(f, m, whole || e.dependsOnMoment, room)
	room.whole = whole
	return room
}

const (
	// learnSeconds is the measured CPU time of learning from a run, and learnShare the share of
	// the runs' time that it may take for known sizes: their five thousandth run contains
	// nothing new.
	learnSeconds = 1.6e-6
	learnShare   = 0.0005
)

// isSaturated reports whether one more run adds little: the windows are full, and the run is short.
func (e *Entry) isSaturated(f *Footprint) bool {
	return e.learned >= window && f.runs >= recentRuns && f.last < learnSeconds/learnShare
}

// isSampled reports whether a known run is learned from, with a probability in proportion to its
// length, by multiples of the golden ratio, which no period of a program fits.
func (e *Entry) isSampled(f *Footprint) bool {
	const golden = 0x9E3779B97F4A7C15 // 2^64 / φ
	e.predictions++
	return float64(uint64(e.predictions)*golden) < f.last*(learnShare/learnSeconds)*math.MaxUint64
}

// answer writes the prediction of a task: of all experts, or of the median alone.
func (e *Entry) answer(f *Footprint, m Moment, all bool, p *Prediction) {
	*p = Prediction{answers: asleep}
	value := f.tracked.value
	if all {
		p.answers = e.answers(f, m)
		value = math.Exp(e.choose(f, &p.answers))
	}
	p.Prediction = e.intervalOf(f, value)
}

// deepRecursion is the number of runs under way on a worker from which on their order matters.
const deepRecursion = 64

// intervalOf returns the interval around a predicted value. It has no ends while kept runs are
// on trial, while more runs are under way than have ended, and in a deep recursion, whose runs
// end in the reverse order: its leaves, which end first, tell little of the others.
func (e *Entry) intervalOf(f *Footprint, value float64) uncertainty.Prediction {
	most := min(e.runs, deepRecursion*max(1, len(e.model.speed.workers)))
	if e.isOnTrial() || e.running > most {
		return new(interval.Ends).Around(value)
	}
	return e.endsOf(f).Around(value)
}

// choose returns the answer of the expert that was asked for, or else the mixture's.
func (e *Entry) choose(f *Footprint, answers *mixture.Answers) float64 {
	if expert := e.model.serving; expert >= 0 && !math.IsNaN(answers[expert]) {
		return answers[expert]
	}
	return e.mixture(mixtureIndex(answers)).Answer(answers)
}

// mixture returns the serving mixture: that of all functions until the function has enough runs
// of its own.
func (e *Entry) mixture(which int) *mixture.Mixture {
	if e.learned > recentRuns {
		return &e.mixtures[which]
	}
	return &e.model.mixtures[which]
}

// endsOf returns the ends that serve the footprint: its own, those of the function's other
// footprints, or those of all functions.
func (e *Entry) endsOf(f *Footprint) *interval.Ends {
	switch {
	case f.ends.IsSettled():
		return &f.ends
	case e.ends.IsReady():
		return &e.ends
	}
	return &e.model.ends
}

// Observe takes a run of a footprint of this entry, and learns from it. Times that
// are not finite or not above zero teach nothing.
func (e *Entry) Observe(f *Footprint, seconds float64) {
	p := &Prediction{}
	if e.IsReady(f) {
		p = e.PredictAt(f, Moment{}, p)
	}
	e.ObserveAt(f, Moment{}, p, seconds)
}

// ObserveAt learns like Observe from one task with its prediction p from before it began; p has
// no value if there was none. The experts' answers in p are scored.
func (e *Entry) ObserveAt(f *Footprint, m Moment, p *Prediction, seconds float64) {
	if !(seconds > 0) || math.IsInf(seconds, 1) {
		return
	}
	e.runs++
	e.running = max(0, e.running-1)
	if f.generation != e.generation {
		f.forget(e.generation)
	}
	y := math.Log(seconds)
	predicted := p.Value > 0
	if predicted && !p.whole && e.isSaturated(f) && !e.isOnTrial() {
		e.observeEnds(f, p.Value, seconds)
		e.pass(f, m, seconds, y)
		return
	}
	if predicted && e.isOnTrial() {
		e.try(p, y)
	}
	if predicted {
		e.observeEnds(f, p.Value, seconds)
		e.judge(p, y)
	}
	e.learn(f, m, seconds, y)
	if e.learned >= e.nextFit && (!e.fitHeld || e.storedRuns > 0) {
		e.Fit()
	}
}

// observeEnds moves the ends by a run. Settled ends of its own make the run useless for the others.
func (e *Entry) observeEnds(f *Footprint, predicted, seconds float64) {
	for _, ends := range []*interval.Ends{&f.ends, &e.ends, &e.model.ends} {
		ends.Observe(predicted, seconds)
		if ends.IsSettled() {
			return
		}
	}
}

// pass takes a run that the mixture does not learn from.
func (e *Entry) pass(f *Footprint, m Moment, seconds, y float64) {
	if e.dependsOnMoment {
		e.model.speed.learn(m, y-f.level.value())
		f.level.add(y - e.model.speed.current(m))
	}
	f.pass(m, seconds)
	f.passed++
}

// judge weighs the experts by a run that none of them had seen.
func (e *Entry) judge(p *Prediction, y float64) {
	which := mixtureIndex(&p.answers)
	e.mixtures[which].Observe(&p.answers, y)
	e.model.mixtures[which].Observe(&p.answers, y)
	w := e.mixtures[usual].Weights
	e.dependsOnMoment = w[near]+w[paced] > w[median]+w[local]
}

// learn takes a run, y the logarithm of its seconds.
func (e *Entry) learn(f *Footprint, m Moment, seconds, y float64) {
	if e.learned == 0 {
		e.logShortest = y
		e.logLongest = y
	}
	e.logShortest = min(e.logShortest, y)
	e.logLongest = max(e.logLongest, y)
	if f.runs > 0 {
		e.model.speed.learn(m, y-f.level.value())
	}
	now := e.model.speed.current(m)
	f.learn(m, seconds, y, now)
	if e.fits > 0 {
		f.locate(e.fits, &e.power, &e.local)
		e.distance.add(y - f.along - now)
		e.neighbours.add(m.Created, y-f.along)
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
	e.power = fitRobust(e.samples, e.width)
	axis := -1
	if e.fits > firstAxes && e.fits%axesEvery != 0 && (e.local.axis == 0 || e.power.b[e.local.axis-1] != 0) {
		axis = e.local.axis
	}
	e.local, e.model.places = fitAxis(e.samples, &e.power, axis, e.model.places)
	e.nextFit = e.learned + max(8, min(e.learned/4, window))
}
