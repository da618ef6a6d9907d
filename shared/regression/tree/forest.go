package tree

import (
	"context"
	"math/rand/v2"

	"github.com/foretime/foretime/shared/regression"
)

// Forest fits a random forest (Breiman, "Random Forests", Machine Learning 45,
// 2001): trees on bootstrap samples of the rows, each node split on one of a random
// choice of the features; the prediction is the mean of the trees. The zero value
// works; a field of 0 means the default in its comment.
type Forest struct {
	Trees        int     // 100
	MaxDepth     int     // -1 or 0: unlimited
	MinLeaf      int     // smallest number of samples in a leaf: 5
	FeatureShare float64 // fraction of the features that each node may be split on: 1/3
	MaxBin       int     // bins per feature, at most 256: 256
	LogTarget    bool    // fit log(target), predict in the target's unit
	Categorical  []bool  // features that are category codes 0 to 254; nil for none
	Seed         uint64
	Threads      int // goroutines; 0 means 1. The model does not depend on it.
}

var _ regression.Fitter[*Ensemble] = Forest{}

func (f Forest) withDefaults() (Forest, error) {
	setDefault(&f.Trees, 100)
	setDefault(&f.MinLeaf, 5)
	setDefault(&f.FeatureShare, 1.0/3)
	setDefault(&f.MaxBin, maxBins)
	setDefault(&f.Threads, 1)
	for _, c := range []struct {
		name  string
		value any
		ok    bool
		want  string
	}{
		{"Trees", f.Trees, f.Trees > 0, "above 0"},
		{"MaxDepth", f.MaxDepth, f.MaxDepth >= -1, "-1 or more"},
		{"MinLeaf", f.MinLeaf, f.MinLeaf > 0, "above 0"},
		{"FeatureShare", f.FeatureShare, f.FeatureShare > 0 && f.FeatureShare <= 1, "in (0, 1]"},
		{"MaxBin", f.MaxBin, f.MaxBin >= 2 && f.MaxBin <= maxBins, "in [2, 256]"},
		{"Threads", f.Threads, f.Threads > 0, "above 0"},
	} {
		if !c.ok {
			return f, &regression.SettingError{Name: c.name, Value: c.value, Want: c.want}
		}
	}
	return f, nil
}

// Fit learns an [Ensemble]. At least 2 samples are needed; features may be missing
// (NaN). The error matches [regression.ErrSetting] (also for weights),
// [regression.ErrTooFew], [regression.ErrNotFinite] or [regression.ErrDimension],
// or is ctx's own.
func (f Forest) Fit(ctx context.Context, s regression.Samples) (*Ensemble, error) {
	f, err := f.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := s.Check(regression.Needs{MinRows: 2, Missing: true, Unweighted: true}); err != nil {
		return nil, err
	}
	if f.Categorical != nil && len(f.Categorical) != s.Features {
		return nil, &regression.SettingError{Name: "Categorical", Value: len(f.Categorical), Want: "nil or one a feature"}
	}
	y, err := Boost{LogTarget: f.LogTarget}.targets(s)
	if err != nil {
		return nil, err
	}
	m, err := bin(s, f.MaxBin, f.Categorical, usefulThreads(f.Threads, len(s.X)))
	if err != nil {
		return nil, err
	}
	e := &Ensemble{features: m.columns, categories: f.Categorical, objective: string(SquaredError), link: identity}
	e.base = single(loss{objective: SquaredError}.start(y, nil))
	if f.LogTarget {
		e.link = exponent
	}
	e.trees = make([]*decisionTree, f.Trees)
	threads := min(f.Threads, f.Trees)
	parallel(threads, threads, func(_, t int) {
		g := newGrower(m, 1)
		for i := t; i < f.Trees && ctx.Err() == nil; i += threads {
			e.trees[i] = f.draw(m, y, e.base, i).grow(g, f)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return e, nil
}

// bag is one tree's bootstrap sample. The number of draws of a row takes the place
// of the second derivative, so a leaf's value is the mean of its draws.
type bag struct {
	rows     []uint32
	gradient []float64
	counts   []float64
	rng      *rand.Rand
}

func (f Forest) draw(m *binned, y []float64, base float64, i int) *bag {
	b := &bag{gradient: make([]float64, m.rows), counts: make([]float64, m.rows), rng: rand.New(rand.NewPCG(f.Seed, uint64(i)))}
	for range m.rows {
		b.counts[b.rng.IntN(m.rows)]++
	}
	for r, n := range b.counts {
		if n > 0 {
			b.rows = append(b.rows, uint32(r))
			b.gradient[r] = n * (base - y[r])
		}
	}
	return b
}

func (b *bag) grow(g *grower, f Forest) *decisionTree {
	limits := growth{
		penalty:  penalty{minChildWeight: float64(f.MinLeaf)},
		maxDepth: max(0, f.MaxDepth),
	}
	if f.FeatureShare < 1 {
		columns := all(g.m.columns)
		limits.allowed = func() []bool { return mask(g.m.columns, pick(columns, f.FeatureShare, b.rng)) }
	}
	t, _ := g.grow(b.rows, b.gradient, b.counts, limits)
	t.finish(1 / float64(f.Trees))
	return t
}
