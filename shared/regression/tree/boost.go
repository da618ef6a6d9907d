package tree

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/foretime/foretime/shared/regression"
)

// Boost fits gradient boosted trees. The zero value has XGBoost's defaults; a field
// of 0 means the default in its comment. To switch off a penalty whose default is
// not 0, give it a tiny value.
type Boost struct {
	Objective     Objective // SquaredError
	QuantileAlpha float64   // fraction below the answer for Quantile: 0.5

	Rounds         int     // trees: 100
	Eta            float64 // fraction of each tree's answer that is used: 0.3
	MaxDepth       int     // 6; -1 is unlimited
	MaxBin         int     // bins per feature, at most 256: 256
	Lambda         float64 // L2 penalty of a leaf's value: 1
	MinChildWeight float64 // smallest sum of second derivatives in a child: 1
	Subsample      float64 // fraction of the rows that each tree sees: 1
	ColsampleTree  float64 // fraction of the features that each tree sees: 1

	// LogTarget fits log(target), which must be above 0, and predicts in the
	// target's own unit.
	LogTarget bool
	// Categorical marks features that are category codes 0 to 254; nil for none.
	Categorical []bool
	// Validation, if it has rows, is scored after every round; Patience rounds
	// without a better score end the fit (10 if 0), and the model keeps the trees
	// up to the best round.
	Validation regression.Samples
	Patience   int

	Seed    uint64
	Threads int // goroutines; 0 means 1. The model does not depend on it.
}

var _ regression.Fitter[*Ensemble] = Boost{}

// withDefaults sets the defaults and checks the ranges.
func (b Boost) withDefaults(s regression.Samples) (Boost, error) {
	setDefault(&b.Objective, SquaredError)
	setDefault(&b.QuantileAlpha, 0.5)
	setDefault(&b.Rounds, 100)
	setDefault(&b.Eta, 0.3)
	setDefault(&b.MaxDepth, 6)
	setDefault(&b.MaxBin, maxBins)
	setDefault(&b.Lambda, 1)
	setDefault(&b.MinChildWeight, 1)
	setDefault(&b.Subsample, 1)
	setDefault(&b.ColsampleTree, 1)
	setDefault(&b.Patience, 10)
	setDefault(&b.Threads, 1)
	share := func(v float64) bool { return v > 0 && v <= 1 }
	penalty := func(v float64) bool { return v >= 0 && finite(v) }
	for _, c := range []struct {
		name  string
		value any
		ok    bool
		want  string
	}{
		{"Objective", b.Objective, b.Objective == SquaredError || b.Objective == Quantile, "SquaredError or Quantile"},
		{"QuantileAlpha", b.QuantileAlpha, b.QuantileAlpha > 0 && b.QuantileAlpha < 1, "in (0, 1)"},
		{"Rounds", b.Rounds, b.Rounds > 0, "above 0"},
		{"Eta", b.Eta, b.Eta > 0 && finite(b.Eta), "above 0"},
		{"MaxDepth", b.MaxDepth, b.MaxDepth >= -1, "-1 or above 0"},
		{"MaxBin", b.MaxBin, b.MaxBin >= 2 && b.MaxBin <= maxBins, "in [2, 256]"},
		{"Lambda", b.Lambda, penalty(b.Lambda), "0 or more"},
		{"MinChildWeight", b.MinChildWeight, penalty(b.MinChildWeight), "0 or more"},
		{"Subsample", b.Subsample, share(b.Subsample), "in (0, 1]"},
		{"ColsampleTree", b.ColsampleTree, share(b.ColsampleTree), "in (0, 1]"},
		{"Patience", b.Patience, b.Patience > 0, "above 0"},
		{"Threads", b.Threads, b.Threads > 0, "above 0"},
		{"Categorical", len(b.Categorical), b.Categorical == nil || len(b.Categorical) == s.Features, "nil or one a feature"},
	} {
		if !c.ok {
			return b, regression.Setting(c.name, c.value, c.want)
		}
	}
	return b, nil
}

// single returns v with the precision of model files.
func single(v float64) float64 { return float64(float32(v)) }

// setDefault gives a zero setting its default.
func setDefault[T comparable](setting *T, value T) {
	var none T
	if *setting == none {
		*setting = value
	}
}

// Fit learns an [Ensemble]. At least 2 samples with weight are needed; features may
// be missing (NaN). The error matches [regression.ErrSetting],
// [regression.ErrTooFew], [regression.ErrNotFinite] or [regression.ErrDimension],
// or is ctx's own.
func (b Boost) Fit(ctx context.Context, s regression.Samples) (*Ensemble, error) {
	b, err := b.withDefaults(s)
	if err != nil {
		return nil, err
	}
	if err := s.Check(regression.Needs{MinRows: 2, Missing: true}); err != nil {
		return nil, err
	}
	b.Threads = usefulThreads(b.Threads, len(s.X))
	y, err := b.targets(s)
	if err != nil {
		return nil, err
	}
	m, err := bin(s, b.MaxBin, b.Categorical, b.Threads)
	if err != nil {
		return nil, err
	}
	watch, err := b.watcher(s.Features)
	if err != nil {
		return nil, err
	}
	return b.boost(ctx, m, y, s.Weights, watch)
}

// targets returns the numbers that the trees are fitted to.
func (b Boost) targets(s regression.Samples) ([]float64, error) {
	for i, v := range s.Y {
		if !finite(single(v)) {
			return nil, regression.NotFinite("target as float32", i, -1, v)
		}
	}
	if !b.LogTarget {
		return s.Y, nil
	}
	y := make([]float64, len(s.Y))
	for i, v := range s.Y {
		if v <= 0 {
			return nil, regression.NotFinite("target to take the logarithm of", i, -1, v)
		}
		y[i] = math.Log(v)
	}
	return y, nil
}

func (b Boost) boost(ctx context.Context, m *binned, y, weights []float64, watch *watcher) (*Ensemble, error) {
	l := loss{objective: b.Objective, alpha: b.QuantileAlpha}
	e := &Ensemble{features: m.columns, categories: b.Categorical, link: identity, objective: string(b.Objective)}
	if b.LogTarget {
		e.link = exponent
	}
	e.base = single(l.start(y, weights))
	watch.begin(e.base)

	predicted := make([]float64, m.rows)
	for i := range predicted {
		predicted[i] = e.base
	}
	gradient := make([]float64, m.rows)
	var hessian []float64
	if weights != nil {
		hessian = make([]float64, m.rows)
	}
	rows := make([]uint32, m.rows)
	g := newGrower(m, b.Threads)
	for round := range b.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rng := rand.New(rand.NewPCG(b.Seed, uint64(round)))
		inRuns(b.Threads, m.rows, func(start, end int) {
			l.derivatives(y, weights, predicted, gradient, hessian, start, end)
		})
		seen, left := b.sample(rows, rng)
		t, leaves := g.grow(seen, gradient, hessian, b.growth(m.columns, rng))
		parallel(b.Threads, len(leaves), func(_, i int) {
			n, rows := &t.nodes[leaves[i].node], seen[leaves[i].start:leaves[i].end]
			if value, ok := l.refit(y, weights, predicted, rows); ok {
				n.value = float32(value)
			}
			n.value = float32(b.Eta * float64(n.value))
			for _, r := range rows {
				predicted[r] += float64(n.value)
			}
		})
		t.prepare()
		for _, r := range left {
			predicted[r] += float64(t.nodes[t.leafOfBins(m, int(r))].value)
		}
		e.trees = append(e.trees, t)
		if watch.stop(t, l, len(e.trees), b.Patience) {
			break
		}
	}
	if watch != nil {
		e.trees = e.trees[:watch.best]
	}
	return e, nil
}

func (b Boost) growth(columns int, rng *rand.Rand) growth {
	limits := growth{
		penalty:  penalty{lambda: b.Lambda, minChildWeight: b.MinChildWeight},
		maxDepth: max(0, b.MaxDepth),
	}
	if b.ColsampleTree < 1 {
		limits.allowed = drawFeatures(columns, b.ColsampleTree, rng)
	}
	return limits
}

// sample fills rows with those that a tree sees, in order, followed by the others.
func (b Boost) sample(rows []uint32, rng *rand.Rand) (seen, left []uint32) {
	if b.Subsample == 1 {
		for i := range rows {
			rows[i] = uint32(i)
		}
		return rows, nil
	}
	n := 0
	for i := range len(rows) {
		if rng.Float64() < b.Subsample {
			rows[n] = uint32(i)
			n++
		} else {
			left = append(left, uint32(i))
		}
	}
	if n == 0 { // a tree sees at least one row
		rows[0] = left[0]
		left = left[1:]
		n = 1
	}
	return rows[:n], left
}

// drawFeatures draws a fraction of n features, at least one.
func drawFeatures(n int, share float64, rng *rand.Rand) []bool {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	drawn := make([]bool, n)
	for _, i := range order[:max(1, int(math.Round(share*float64(n))))] {
		drawn[i] = true
	}
	return drawn
}

// leafOfBins walks a row of the training matrix by its bins.
func (t *decisionTree) leafOfBins(m *binned, row int) int {
	at := 0
	for {
		n := &t.nodes[at]
		if n.feature < 0 {
			return at
		}
		f := &m.features[n.feature]
		code := int(m.byColumn[n.feature][row])
		var right bool
		switch {
		case f.missing && code == f.bins:
			right = !n.missingLeft()
		case n.set() >= 0:
			right = t.sets[n.set()].contains(code)
		default:
			right = f.cuts[code] > n.value
		}
		at = int(n.left)
		if right {
			at++
		}
	}
}

// watcher follows the score on the validation samples.
type watcher struct {
	samples   regression.Samples
	x         []float32
	y         []float64
	predicted []float64
	best      int // number of trees at the best score
	score     float64
}

// watcher returns nil if there are no validation samples.
func (b Boost) watcher(features int) (*watcher, error) {
	v := b.Validation
	if v.Len() == 0 {
		return nil, nil
	}
	if v.Features != features {
		return nil, regression.Dimension("features of the validation samples", v.Features, features)
	}
	if err := v.Check(regression.Needs{MinRows: 1, Missing: true}); err != nil {
		return nil, fmt.Errorf("validation: %w", err)
	}
	y, err := b.targets(v)
	if err != nil {
		return nil, fmt.Errorf("validation: %w", err)
	}
	w := &watcher{samples: v, y: y, x: make([]float32, len(v.X)), predicted: make([]float64, v.Len()), score: math.Inf(1)}
	for i, x := range v.X {
		w.x[i] = float32(x)
	}
	return w, nil
}

func (w *watcher) begin(base float64) {
	if w == nil {
		return
	}
	for i := range w.predicted {
		w.predicted[i] = base
	}
}

// stop adds a tree and reports whether the score has not improved for too long.
func (w *watcher) stop(t *decisionTree, l loss, trees, patience int) bool {
	if w == nil {
		return false
	}
	width := w.samples.Features
	for i := range w.predicted {
		w.predicted[i] += float64(t.nodes[t.leafOf(w.x[i*width:(i+1)*width])].value)
	}
	if score := l.mean(w.y, w.samples.Weights, w.predicted); score < w.score {
		w.score, w.best = score, trees
	}
	return trees-w.best >= patience
}
