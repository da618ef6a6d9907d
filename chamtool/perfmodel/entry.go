package perfmodel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Entry is the model of one task function.
type Entry struct {
	name       string
	options    Options
	footprints map[uint64]*Footprint
	usual      [16]*Footprint // those met last, by the low bits of their hash
	width      int            // features of the power law; -1 before the first footprint
	unit       float64        // of the ridge's sizes

	seen     int // runs observed
	learned  int // of them, those it learned from
	taught   int // of these, kept from earlier program runs
	n        int // learned since the last drift
	doubt    int // how often runs lately missed their intervals, see repeats
	next     int // fit again at this n
	fits     int
	drifts   int
	outliers int
	epoch    int
	held     bool // no fit yet, whatever n

	columns        *columns // the model's
	samples        []sample // the window, sorted by place up to the last fit
	fresh          int      // samples behind the sorted ones
	logs           moments
	powers         moments
	power          powerLaw
	local          localLaw
	ridge          ridgeLaw
	least          float64 // shortest run
	score          [kinds]float64
	judged         [kinds]int
	serving        Kind
	residual       [256]float64 // log(actual / served), newest at judgedAll-1
	residuals      int
	low, high      float64 // factors of the interval
	centre, spread float64 // of the residuals at the last fit
	strange        int     // outliers in a row
}

// maxFootprints bounds the histories of one entry. Beyond it those of a single
// run are dropped.
const maxFootprints = 1 << 16

// Name is the entry's name.
func (e *Entry) Name() string { return e.name }

// Serving is the kind of model that answers now.
func (e *Entry) Serving() Kind {
	if e.options.Kind != Auto {
		return e.options.Kind
	}
	return e.serving
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

// Error is the rolling mean of a kind's error on runs it had not seen, as
// |log(predicted/actual)| of at most 3; NaN without any. Unlike a relative
// error it does not favour answers that are too low.
func (e *Entry) Error(k Kind) float64 {
	if k < 0 || int(k) >= kinds || e.judged[k] == 0 {
		return math.NaN()
	}
	return e.score[k]
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
		e.unit = math.Max(total(sizes), 1)
	}
	if len(e.footprints) >= maxFootprints {
		e.dropRare()
	}
	f := &Footprint{Sizes: slices.Clone(sizes), key: key, x: features(sizes, e.width), ridge: ridgeFeatures(total(sizes), e.unit), mlp: math.NaN()}
	if e.options.Network != nil {
		f.mlp = e.options.Network.log(e.name, sizes)
	}
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

// prediction is the answer for a footprint, made anew once the entry was fitted
// or has learned from a run of the footprint.
func (e *Entry) prediction(f *Footprint) *Prediction {
	if f.fit != e.fits || f.stale {
		y, kind := e.served(f)
		s := math.Exp(y)
		f.best, f.stale = Prediction{Seconds: s, Low: s * e.low, High: s * e.high, Model: kind}, false
	}
	return &f.best
}

// served is the logarithm of the answer, and the kind that gave it.
func (e *Entry) served(f *Footprint) (float64, Kind) {
	kind := e.Serving()
	y := e.answer(f, kind)
	if math.IsNaN(y) {
		return e.answer(f, Local), Local
	}
	return y, kind
}

// answer is the logarithm of one kind's seconds, NaN where it has no answer.
func (e *Entry) answer(f *Footprint, kind Kind) float64 {
	if f.fit != e.fits {
		e.cache(f)
	}
	if kind != History {
		return f.law[kind]
	}
	mid, ok := f.median(e.epoch)
	if !ok {
		return f.law[Local]
	}
	// The local model counts as much as three runs with these sizes.
	n := float64(min(f.runs, recent))
	return (n*mid + 3*f.law[Local]) / (n + 3)
}

func (e *Entry) cache(f *Footprint) {
	at := e.power.log(f.x)
	f.law[Auto] = math.NaN()
	f.law[Power] = sane(at)
	f.law[Local] = sane(at + e.local.log(at))
	f.law[Ridge] = sane(math.Log(e.ridge.seconds(f.ridge)))
	f.law[MLP] = sane(f.mlp)
	f.fit, f.stale = e.fits, true
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
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return
	}
	e.seen++
	if e.repeats(f, seconds) {
		return
	}
	y := math.Log(seconds)
	plain := true
	if e.fits > 0 {
		plain = e.judge(f, y)
	}
	f.observe(y, e.epoch)
	e.learn(f, seconds, y, plain)
	if e.n >= e.next && (!e.held || e.taught > 0) {
		e.Fit()
	}
}

const (
	// learnOneIn is the share of the repeated runs that are learned from.
	learnOneIn = 8
	// A run clearly outside its interval adds missed to the doubt, one inside
	// takes one away: doubt grows once more than a fifth of the runs miss, and
	// beyond doubtful every run is learned from. A change of a twentieth is not
	// worth that.
	missed, doubtful, mostDoubt = 4, 64, 256
	clearly                     = 1.05
)

// repeats reports whether a run may be passed over: the window and the
// footprint's history are full, runs fall into their intervals, and the run is
// not the one in learnOneIn that is learned from all the same. That one is
// chosen by multiples of the golden ratio, which no period of a program fits.
func (e *Entry) repeats(f *Footprint, seconds float64) bool {
	if e.fits == 0 || e.n < window || f.runs < recent || f.epoch != e.epoch {
		return false
	}
	p := e.prediction(f)
	if seconds*clearly < p.Low || seconds > p.High*clearly {
		e.doubt = min(e.doubt+missed, mostDoubt)
	} else {
		e.doubt = max(e.doubt-1, 0)
	}
	const golden = 0x9E3779B97F4A7C15 // 2^64 / φ
	return e.doubt <= doubtful && uint64(e.seen)*golden >= math.MaxUint64/learnOneIn
}

func (e *Entry) learn(f *Footprint, seconds, y float64, plain bool) {
	e.n++
	e.learned++
	if e.least == 0 || seconds < e.least {
		e.least = seconds
	}
	if plain {
		e.logs.add(f.x, y, 1)
		e.powers.add(f.ridge[:], seconds, 1/(seconds*seconds))
	}
	e.samples = append(e.samples, sample{y: y, f: f, order: uint64(e.learned)})
	e.fresh++
}

// judge compares every kind's answer with a run that none of them has seen,
// and reports whether the run is like the others.
func (e *Entry) judge(f *Footprint, y float64) bool {
	for k := History; int(k) < kinds; k++ {
		if a := e.answer(f, k); !math.IsNaN(a) {
			e.judged[k]++
			e.score[k] += (math.Min(math.Abs(a-y), 3) - e.score[k]) / float64(min(e.judged[k], 256))
		}
	}
	served, _ := e.served(f)
	r := y - served
	e.residual[e.residuals%len(e.residual)] = r
	e.residuals++
	if e.residuals%stretch == 0 && e.drifted() {
		e.forget()
	}
	if e.spread > 0 && math.Abs(r-e.centre) > math.Max(6*e.spread, math.Log(1.5)) {
		if e.strange++; e.strange < 8 {
			e.outliers++
			return false
		}
		return true
	}
	e.strange = 0
	return true
}
