package perfmodel

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Entry is the model of one task function.
type Entry struct {
	name       string
	model      *Model
	options    *Options
	serving    int // the model that serves; -1 is the mixture
	footprints map[uint64]*Footprint
	usual      [16]*Footprint // those met last, by the low bits of their hash
	width      int            // features of the power law; -1 before the first footprint

	counts
	carried
	history
	experts
	misses
	bounds
}

// counts are how often what happened to an entry.
type counts struct {
	seen     int // runs observed
	learned  int // of them, those it learned from
	n        int // learned since the last drift
	doubt    int // how often runs lately missed their intervals, see repeats
	next     int // fit again at this n
	fits     int
	drifts   int
	outliers int
	epoch    int
	era      int  // what the median of all runs is of; begins anew when kept runs did not hold
	held     bool // no fit yet, whatever n
}

// carried is what an entry has of earlier program runs.
type carried struct {
	taught     int // runs learned from, kept from earlier program runs
	stored     int // runs learned from, told by Learned or kept before
	trial      trial
	overturned bool // kept runs did not hold
	unsaved    bool // Learned has not told of that yet
}

// history is the window of the last runs, and what was fitted to it.
type history struct {
	columns *columns // the model's
	samples []sample // sorted by place up to the last fit
	fresh   int      // samples behind the sorted ones
	logs    moments
	power   powerLaw
	local   localLaw
}

// experts are an entry's models with their weights.
type experts struct {
	laws    []law
	live    []int      // of laws, those whose answers change with every run
	moments []int      // of laws, those whose answers depend on the moment
	mix     [2]mixture // for footprints that ran, and for those that did not
}

// misses are how far the last runs lay from the local model.
type misses struct {
	residual       [256]float64 // log(actual / local), newest at residuals-1
	residuals      int
	centre, spread float64 // at the last fit
	outlierRun     int     // outliers in a row
}

// bounds are an entry's interval.
type bounds struct {
	interval uncertainty.Adaptive
	factors  uncertainty.Prediction // about a value of 1
	moved    int                    // how often they did
}

func newEntry(name string, m *Model) *Entry {
	e := &Entry{name: name, model: m, options: &m.options, footprints: map[uint64]*Footprint{}, width: -1, serving: -1}
	e.columns, e.next = &m.columns, m.options.FirstFit
	e.interval, _ = uncertainty.NewAdaptive(uncertainty.Factor, m.options.Level) // New saw to the level
	e.factors = m.interval.Predict(1)
	for k, model := range m.laws {
		l := model.New(e)
		e.laws = append(e.laws, l)
		if _, ok := l.(live); ok {
			e.live = append(e.live, k)
		}
		if _, ok := l.(momentary); ok {
			e.moments = append(e.moments, k)
		}
		if model.Name == e.options.Serve {
			e.serving = k
		}
	}
	e.mix = [2]mixture{{models: &m.models, moments: e.moments}, {models: &m.models, moments: e.moments}}
	if m.mix == nil {
		m.mix = &[2]mixture{e.mix[0], e.mix[1]}
	}
	e.inherit()
	return e
}

// inherit begins with what all functions of the process taught of the models.
func (e *Entry) inherit() { e.mix = [2]mixture{e.model.mix[seen].prior(), e.model.mix[unseen].prior()} }

// The mixtures of an entry: for footprints that ran, and for those that did not.
const seen, unseen = 0, 1

// which is the footprint's of the two.
func (e *Entry) which(f *Footprint) int {
	if f.runs == 0 || f.epoch != e.epoch {
		return unseen
	}
	return seen
}

// mixture is what serves the footprint: a young function has that of all
// functions, for what has been learned since it appeared counts for it too.
func (e *Entry) mixture(f *Footprint) *mixture {
	if e.young() {
		return &e.model.mix[e.which(f)]
	}
	return &e.mix[e.which(f)]
}

// youngRuns is how many runs a function must have learned from before its own errors
// choose.
const youngRuns = 32

func (e *Entry) young() bool { return e.learned < youngRuns }

// maxFootprints bounds the histories of one entry. Beyond it those of a single
// run are dropped.
const maxFootprints = 1 << 16

// Name is the entry's name.
func (e *Entry) Name() string { return e.name }

// Serving is the name of the model that answers now: the one that was asked
// for, or the heaviest of the mixture.
func (e *Entry) Serving() string {
	best := e.serving
	if best < 0 {
		best = e.mix[seen].heaviest()
	}
	return e.model.laws[best].Name
}

// Runs is how many runs were observed.
func (e *Entry) Runs() int { return e.seen }

// Fits is how often the entry was fitted.
func (e *Entry) Fits() int { return e.fits }

// Drifts is how often the past was dropped.
func (e *Entry) Drifts() int { return e.drifts }

// Outliers is how many of the runs that were learned lay so far from the others
// that the power law and the ridge were not fitted to them.
func (e *Entry) Outliers() int { return e.outliers }

// Error is the rolling mean of a model's error on runs it had not seen, as
// |log(predicted/actual)| of at most 3; NaN without any. Unlike a relative
// error it does not favour answers that are too low.
func (e *Entry) Error(model string) float64 {
	for k, m := range e.model.laws {
		if m.Name == model && e.mix[seen].judged[k] > 0 {
			return e.mix[seen].weightings[0].loss[k]
		}
	}
	return math.NaN()
}

// Footprints are the entry's footprints, smallest total size first.
func (e *Entry) Footprints() []*Footprint {
	all := make([]*Footprint, 0, len(e.footprints))
	for _, f := range e.footprints {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *Footprint) int {
		return cmp.Or(cmp.Compare(total(a.Sizes), total(b.Sizes)), slices.Compare(a.Sizes, b.Sizes))
	})
	return all
}

// Exponents are those of the power law, one a feature, and the multiplier
// whose time they give: seconds = multiplier · Π (1+size)^exponent. ok is
// false before the first fit and where no size varied.
func (e *Entry) Exponents() (multiplier float64, exponents []float64, ok bool) {
	if e.fits == 0 || e.power.fixed {
		return 0, nil, false
	}
	at := e.power.at
	for i := range e.power.width {
		at -= e.power.b[i] * e.power.mean[i]
	}
	return math.Exp(at), slices.Clone(e.power.b[:e.power.width]), true
}

// Footprint returns the footprint of the sizes, made where it is new. It does
// not keep sizes.
func (e *Entry) Footprint(sizes []int64) *Footprint {
	key := hash(sizes)
	if f := e.usual[key%uint64(len(e.usual))]; f != nil && f.key == key {
		return f
	}
	f := e.footprints[key]
	if f == nil {
		f = e.newFootprint(key, sizes)
	}
	e.usual[key%uint64(len(e.usual))] = f
	return f
}

func (e *Entry) newFootprint(key uint64, sizes []int64) *Footprint {
	if e.width < 0 {
		e.width = min(len(sizes), maxFeatures)
	}
	if len(e.footprints) >= maxFootprints {
		e.dropRare()
	}
	f := &Footprint{entry: e, Sizes: slices.Clone(sizes), key: key, x: features(sizes, e.width), total: total(sizes)}
	e.footprints[key] = f
	return f
}

func (e *Entry) dropRare() {
	clear(e.usual[:])
	for key, f := range e.footprints {
		if f.runs <= 1 {
			delete(e.footprints, key)
		}
	}
	if len(e.footprints) >= maxFootprints {
		clear(e.footprints)
	}
}

// Hold keeps the entry from its first fit until it is called with false, unless
// it was taught.
func (e *Entry) Hold(hold bool) {
	if e.held = hold; !hold && e.fits == 0 && e.n >= e.next {
		e.Fit()
	}
}

// Predict answers for a footprint of this entry. The error matches
// [ErrUntrained].
func (e *Entry) Predict(f *Footprint) (Prediction, error) {
	if e.fits == 0 {
		return Prediction{}, fmt.Errorf("%s: %w: %d runs of %d", e.name, ErrUntrained, e.seen, e.options.FirstFit)
	}
	return *e.prediction(f), nil
}

// PredictAt is Predict for one task.
func (e *Entry) PredictAt(f *Footprint, m Moment) (Prediction, error) {
	if e.fits == 0 || !e.momentarily(f) {
		return e.Predict(f)
	}
	y, model := e.serve(f, m)
	return Prediction{e.about().Times(math.Exp(y)), e.model.laws[model].Name}, nil
}

// Now is the answer for a footprint, valid until the next run is observed; nil
// where there is no model yet, or the answer depends on the moment.
func (e *Entry) Now(f *Footprint) *Prediction {
	if e.fits == 0 || e.momentarily(f) {
		return nil
	}
	return e.prediction(f)
}

// about is the interval about a value of 1: that of all functions for a young one.
func (e *Entry) about() uncertainty.Prediction {
	if m := e.model; e.young() {
		return m.interval.Predict(1)
	}
	return e.factors
}

// momentarily reports whether what serves depends on the moment.
func (e *Entry) momentarily(f *Footprint) bool {
	if e.serving >= 0 {
		return slices.Contains(e.moments, e.serving)
	}
	return e.mixture(f).momentary
}

// prediction is the answer for a footprint, made anew once the entry was fitted
// or has learned from a run of the footprint.
func (e *Entry) prediction(f *Footprint) *Prediction {
	if f.fit != e.fits || f.stale || e.young() {
		y, model := e.served(f)
		s := math.Exp(y)
		f.best.Value, f.best.Model, f.stale, f.moved = s, e.model.laws[model].Name, false, -1
	}
	if f.moved != e.moved {
		f.best.Prediction, f.moved = e.about().Times(f.best.Value), e.moved
	}
	return &f.best
}

// served is the logarithm of the answer for any moment, and the model that gave
// it.
func (e *Entry) served(f *Footprint) (y float64, model int) {
	e.ask(f)
	return e.middle(f, f.answers[:len(e.laws)])
}

// serve is served for one moment.
func (e *Entry) serve(f *Footprint, m Moment) (y float64, model int) {
	answers := e.answers(f, m)
	return e.middle(f, answers[:len(e.laws)])
}

// answers are those of all models.
func (e *Entry) answers(f *Footprint, m Moment) [mostModels]float64 {
	e.ask(f)
	answers := f.answers
	for _, k := range e.moments {
		answers[k] = sane(e.laws[k].answer(f, m))
	}
	return answers
}

func (e *Entry) middle(f *Footprint, answers []float64) (y float64, model int) {
	if e.serving >= 0 {
		y, model = answers[e.serving], e.serving
	} else {
		y, model = e.mixture(f).middle(answers)
	}
	if math.IsNaN(y) {
		return answers[e.model.local], e.model.local
	}
	return y, model
}

// ask takes the answers of all models, or of the live ones alone where the
// others gave theirs since the last fit.
func (e *Entry) ask(f *Footprint) {
	if f.fit != e.fits {
		for k, l := range e.laws {
			f.answers[k] = sane(l.answer(f, Moment{}))
		}
		for _, k := range e.moments {
			f.answers[k] = math.NaN() // only for a moment
		}
		f.fit, f.stale = e.fits, true
		return
	}
	for _, k := range e.live {
		f.answers[k] = sane(e.laws[k].answer(f, Moment{}))
	}
}

// sane keeps an answer between a nanosecond and thirty years, and NaN as it is.
func sane(log float64) float64 {
	const low, high = -20.7, 20.7
	if log < low {
		return low
	}
	if log > high {
		return high
	}
	return log
}

// Observe takes a run of a footprint of this entry, and learns from it unless it
// repeats what is known. Times that are not finite or not above zero teach
// nothing.
func (e *Entry) Observe(f *Footprint, seconds float64) {
	p, _ := e.Predict(f)
	e.ObserveAt(f, Moment{}, p, seconds)
}

// ObserveAt is Observe for one task, of which p was predicted before it began; of
// no value where nothing was.
func (e *Entry) ObserveAt(f *Footprint, m Moment, p Prediction, seconds float64) {
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return
	}
	e.seen++
	if e.onTrial() && e.fits > 0 {
		e.try(f, seconds)
	}
	y := math.Log(seconds)
	if e.repeats(f, &p, seconds) {
		f.remember(y, e.era)
		e.pass(f, m, y)
		return
	}
	plain := true
	if e.fits > 0 {
		plain = e.judge(f, m, y)
		if p.Value > 0 {
			e.observeInterval(p.Value, seconds)
		}
	}
	f.remember(y, e.era)
	f.observe(y, e.epoch)
	e.learn(f, m, y, plain)
	e.model.learned++
	if (e.n >= e.next || e.fits == 0 && e.alone()) && (!e.held || e.taught > 0) {
		e.Fit()
	}
}

// observeInterval takes how far a prediction was off. A function that has seen too
// little for an interval of its own has that of all functions.
func (e *Entry) observeInterval(predicted, seconds float64) {
	m := e.model
	_ = m.interval.Observe(predicted, seconds) // all are above zero
	_ = e.interval.Observe(predicted, seconds)
	if e.steady() && e.learned%weighEvery != 0 {
		return
	}
	e.moved++
	if e.factors = e.interval.Predict(1); !e.factors.Bounded() {
		e.factors = m.interval.Predict(1)
	}
}

// steady reports whether so much is known that what one more run tells can wait.
func (e *Entry) steady() bool { return e.n >= window/4 && e.doubt <= doubtful }

// alone reports whether the first run tells as much as the tenth: where there are
// no sizes, and other functions have taught what to make of it.
func (e *Entry) alone() bool { return e.width == 0 && e.model.learned > e.options.FirstFit }

const (
	// learnOneIn is the share of the repeated runs that are learned from, once the
	// window is full, and learnOneInEarly before, from a quarter of it on.
	learnOneIn, learnOneInEarly = 16, 4
	// A run clearly outside its interval adds missed to the doubt, one inside
	// takes one away: doubt grows once more than a fifth of the runs miss, and
	// beyond doubtful every run is learned from. A change of a twentieth is not
	// worth that.
	missed, doubtful, mostDoubt = 4, 32, 256
	clearly                     = 1.05
)

// repeats reports whether a run may be passed over: the window, or a
// quarter of it, and the footprint's history are full, runs fall into their intervals, and the run is
// not the one in learnOneIn that is learned from all the same. That one is
// chosen by multiples of the golden ratio, which no period of a program fits.
func (e *Entry) repeats(f *Footprint, p *Prediction, seconds float64) bool {
	if !(p.Value > 0) || e.n < window/4 || f.runs < recent || f.epoch != e.epoch {
		return false
	}
	if seconds*clearly < p.Low || seconds > p.High*clearly {
		e.doubt = min(e.doubt+missed, mostDoubt)
	} else {
		e.doubt = max(e.doubt-1, 0)
	}
	const golden = 0x9E3779B97F4A7C15 // 2^64 / φ
	share := uint64(math.MaxUint64 / learnOneIn)
	if e.n < window {
		share = math.MaxUint64 / learnOneInEarly
	}
	return e.doubt <= doubtful && uint64(e.seen)*golden >= share
}

// pass takes a run that is not learned: where what serves depends on the moment,
// it tells of the moment all the same.
func (e *Entry) pass(f *Footprint, m Moment, y float64) {
	if !e.mix[seen].momentary {
		return
	}
	for _, k := range e.moments {
		e.laws[k].learn(f, m, y, true)
	}
}

func (e *Entry) learn(f *Footprint, m Moment, y float64, plain bool) {
	e.n++
	e.learned++
	if plain {
		e.logs.add(f.x, y, 1)
	}
	for _, l := range e.laws {
		l.learn(f, m, y, plain)
	}
	e.samples = append(e.samples, sample{y: y, f: f, order: uint64(e.learned)})
	e.fresh++
}

// judge compares every model's answer with a run that none of them has seen,
// and reports whether the run is like the others.
func (e *Entry) judge(f *Footprint, m Moment, y float64) bool {
	e.ask(f)
	answers := f.answers
	if !e.steady() || e.mixture(f).momentary || e.learned%4 == 0 {
		answers = e.answers(f, m)
	}
	which := e.which(f)
	mix, all := &e.mix[which], &e.model.mix[which]
	mix.judge(answers[:len(e.laws)], y)
	if all.runs < 4*memory || e.model.learned%weighEvery == 0 {
		all.judge(answers[:len(e.laws)], y)
	}
	r := y - f.answers[e.model.local] // how far from what was fitted, whatever serves
	e.residual[e.residuals%len(e.residual)] = r
	e.residuals++
	if e.residuals%stretch == 0 && e.drifted() {
		e.forget()
	}
	if e.spread > 0 && math.Abs(r-e.centre) > math.Max(6*e.spread, math.Log(1.5)) {
		if e.outlierRun++; e.outlierRun < 8 {
			e.outliers++
			return false
		}
		return true
	}
	e.outlierRun = 0
	return true
}
