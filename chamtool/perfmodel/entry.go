package perfmodel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Options sets how a [Model] learns. The zero value works.
type Options struct {
	Kind     Kind     // what serves; 0 is Auto
	FirstFit int      // runs before the first answer; 0 is 10
	Network  *Network // for MLP; nil is none
	Level    float64  // share of runs that an interval holds; 0 is 0.9
}

// Prediction is what a task will take, in seconds.
type Prediction struct {
	Seconds   float64
	Low, High float64
	Model     Kind // that answered
}

// Model is what a process knows about its task functions.
type Model struct {
	options Options
	entries map[string]*Entry
	names   []string
}

// New returns a model that knows nothing.
func New(o Options) *Model {
	if o.FirstFit <= 0 {
		o.FirstFit = 10
	}
	if !(o.Level > 0 && o.Level < 1) {
		o.Level = 0.9
	}
	return &Model{options: o, entries: map[string]*Entry{}}
}

// Entry returns the entry of a task function, made where it is new. The name
// is the caller's: the same one on every rank and in every run.
func (m *Model) Entry(name string) *Entry {
	e := m.entries[name]
	if e == nil {
		e = &Entry{name: name, options: m.options, footprints: map[uint64]*Footprint{}, width: -1, serving: Power}
		e.next = m.options.FirstFit
		m.entries[name] = e
		m.names = append(m.names, name)
	}
	return e
}

// Names are the entries' names in the order they appeared.
func (m *Model) Names() []string { return slices.Clone(m.names) }

// Fits is how often any entry was fitted.
func (m *Model) Fits() (n int) {
	for _, e := range m.entries {
		n += e.fits
	}
	return n
}

// Drifts is how often any entry's past was dropped because it no longer held.
func (m *Model) Drifts() (n int) {
	for _, e := range m.entries {
		n += e.drifts
	}
	return n
}

// Entry is the model of one task function. It belongs to one goroutine.
type Entry struct {
	name       string
	options    Options
	footprints map[uint64]*Footprint
	usual      [16]*Footprint // those met last, by the low bits of their hash
	width      int            // features of the power law; -1 before the first footprint
	unit       float64        // of the ridge's sizes

	n        int // runs observed since the last drift
	seen     int // runs observed in all
	taught   int // of them, kept from earlier program runs
	next     int // fit again at this n
	fits     int
	drifts   int
	outliers int
	epoch    int
	held     bool // no fit yet, whatever n

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

// Outliers is how many runs lay so far from the others that the power law and
// the ridge were not fitted to them.
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
func (e *Entry) Hold(hold bool) { e.held = hold }

// Predict answers for a footprint of this entry. The error matches
// [ErrUntrained].
func (e *Entry) Predict(f *Footprint) (Prediction, error) {
	if e.fits == 0 {
		return Prediction{}, fmt.Errorf("%s: %w: %d runs of %d", e.name, ErrUntrained, e.seen, e.options.FirstFit)
	}
	y, kind := e.served(f)
	s := math.Exp(y)
	return Prediction{Seconds: s, Low: s * e.low, High: s * e.high, Model: kind}, nil
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
	if !f.answers || f.cached != e.fits {
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
	f.cached, f.answers = e.fits, true
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

// Observe learns from a run of a footprint of this entry. Times that are not
// finite or not above zero teach nothing.
func (e *Entry) Observe(f *Footprint, seconds float64) {
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return
	}
	e.seen++
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

func (e *Entry) learn(f *Footprint, seconds, y float64, plain bool) {
	e.n++
	if e.least == 0 || seconds < e.least {
		e.least = seconds
	}
	if plain {
		e.logs.add(f.x, y, 1)
		e.powers.add(f.ridge[:], seconds, 1/(seconds*seconds))
	}
	e.samples = append(e.samples, sample{y: y, f: f, order: uint64(e.seen)})
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
	if e.residuals%32 == 0 && e.drifted() {
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

// Fit fits now. It is called by Observe when it is time.
func (e *Entry) Fit() {
	if e.n == 0 {
		return
	}
	e.fits++
	law := fitPower(&e.logs, max(e.width, 0))
	moved := e.fits == 1 || !law.near(&e.power, &e.logs)
	if moved {
		e.power = law
	}
	e.ridge = fitRidge(&e.powers, e.least/2)
	e.sortSamples(moved)
	e.local = fitLocal(e.samples)
	e.choose()
	e.widen()
	e.next = e.n + max(8, min(e.n/4, 2048))
}

// sortSamples gives every sample its place along the power law, those of
// earlier fits only where the law moved; sorts them; and drops the oldest
// beyond the window.
func (e *Entry) sortSamples(moved bool) {
	if len(e.samples) > window {
		oldest := uint64(e.seen - window)
		kept := e.samples[:0]
		fresh := 0
		for i := range e.samples {
			if e.samples[i].order > oldest {
				if i >= len(e.samples)-e.fresh {
					fresh++
				}
				kept = append(kept, e.samples[i])
			}
		}
		clear(e.samples[len(kept):])
		e.samples, e.fresh = kept, fresh
	}
	first := len(e.samples) - e.fresh
	if moved {
		first = 0
	}
	for i := first; i < len(e.samples); i++ {
		e.samples[i].at = e.power.log(e.samples[i].f.x)
	}
	byPlace := func(a, b sample) int { return cmp.Compare(a.at, b.at) }
	old, fresh := e.samples[:len(e.samples)-e.fresh], e.samples[len(e.samples)-e.fresh:]
	slices.SortFunc(fresh, byPlace)
	if moved && !slices.IsSortedFunc(old, byPlace) {
		slices.SortFunc(old, byPlace)
	}
	e.samples = merge(old, fresh)
	e.fresh = 0
}

// merge merges two sorted stretches that lie one behind the other.
func merge(a, b []sample) []sample {
	out := a[:len(a)+len(b)]
	b = slices.Clone(b)
	i, j := len(a)-1, len(b)-1
	for at := len(out) - 1; j >= 0; at-- {
		if i >= 0 && out[i].at > b[j].at {
			out[at] = out[i]
			i--
		} else {
			out[at] = b[j]
			j--
		}
	}
	return out
}

// choose lets the kind with the least rolling error serve; another must be
// clearly better to take over.
func (e *Entry) choose() {
	best := e.serving
	if e.judged[best] == 0 {
		best = Local
	}
	for k := History; int(k) < kinds; k++ {
		if e.judged[k] >= 8 && e.judged[best] > 0 && e.score[k] < 0.97*e.score[best] {
			best = k
		}
	}
	e.serving = best
}

// widen takes the interval, and what is usual, from the residuals.
func (e *Entry) widen() {
	sorted := slices.Clone(e.residual[:min(e.residuals, len(e.residual))])
	if len(sorted) < 8 {
		sorted = sorted[:0]
		for i := range e.samples {
			s := &e.samples[i]
			sorted = append(sorted, s.y-s.at-e.local.log(s.at))
		}
	}
	slices.Sort(sorted)
	tail := (1 - e.options.Level) / 2
	n := float64(len(sorted))
	e.low = math.Exp(math.Min(sorted[int(tail*n)], 0))
	e.high = math.Exp(math.Max(sorted[min(int(math.Ceil((1-tail)*n)), len(sorted)-1)], 0))
	e.centre = medianOf(sorted)
	for i, r := range sorted {
		sorted[i] = math.Abs(r - e.centre)
	}
	slices.Sort(sorted)
	e.spread = 1.4826 * medianOf(sorted)
}

// drifted reports whether the last 32 residuals lie elsewhere than usual: by
// more than a quarter, and by more than five standard errors of a median.
func (e *Entry) drifted() bool {
	if e.residuals < 64 || e.n < 64 {
		return false
	}
	var last [32]float64
	for i := range last {
		last[i] = e.residual[(e.residuals-32+i)%len(e.residual)]
	}
	slices.Sort(last[:])
	shift := math.Abs(medianOf(last[:]) - e.centre)
	return shift > math.Max(0.25, 5*1.2533*e.spread/math.Sqrt(32))
}

// forget drops the past but for the last 32 runs.
func (e *Entry) forget() {
	e.drifts++
	e.epoch++
	slices.SortFunc(e.samples, func(a, b sample) int { return cmp.Compare(a.order, b.order) })
	kept := slices.Clone(e.samples[max(0, len(e.samples)-31):])
	e.samples, e.fresh = kept, len(kept)
	e.logs, e.powers, e.n, e.least = moments{}, moments{}, len(kept), 0
	for _, s := range kept {
		seconds := math.Exp(s.y)
		e.logs.add(s.f.x, s.y, 1)
		e.powers.add(s.f.ridge[:], seconds, 1/(seconds*seconds))
		if e.least == 0 || seconds < e.least {
			e.least = seconds
		}
	}
	e.judged, e.residuals, e.strange = [kinds]int{}, 0, 0
	e.next = e.n + 1
}
