package tree

import (
	"math"
	"sync"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/uncertainty"
)

// link turns the sum of the leaves into the target's unit.
type link string

const (
	identity link = "identity"
	exponent link = "exp" // the trees were fitted to log(target)
)

func (l link) apply(v float64) float64 {
	if l == exponent {
		return math.Exp(v)
	}
	return v
}

// Ensemble is a fitted sum of trees. NaN features are missing values.
type Ensemble struct {
	features   int
	names      []string // of the features; nil when unknown
	categories []bool   // features that are codes; nil for none
	base       float64  // added to the leaves
	link       link
	objective  string
	trees      []*decisionTree
	attributes map[string]string
}

var _ regression.Model = (*Ensemble)(nil)

// Features is the width of the rows the model was fitted on.
func (e *Ensemble) Features() int { return e.features }

// Trees is the number of trees.
func (e *Ensemble) Trees() int { return len(e.trees) }

// Names are the names of the features, or nil when they have none.
func (e *Ensemble) Names() []string { return e.names }

// SetNames names the features. The error matches [regression.ErrDimension].
func (e *Ensemble) SetNames(names []string) error {
	if len(names) != e.features {
		return &regression.DimensionError{What: "feature names", Have: len(names), Want: e.features}
	}
	e.names = append([]string(nil), names...)
	return nil
}

// scratch holds a row as float32.
var scratch = sync.Pool{New: func() any { return new([]float32) }}

// Predict is the sum over the trees for one row, without an interval; see
// [regression.Calibrate] for one. It allocates nothing.
func (e *Ensemble) Predict(x []float64) (uncertainty.Prediction, error) {
	if err := regression.CheckRow(x, e.features, true); err != nil {
		return uncertainty.Prediction{}, err
	}
	kept := scratch.Get().(*[]float32)
	defer scratch.Put(kept)
	*kept = resized(*kept, len(x))
	for i, v := range x {
		(*kept)[i] = float32(v)
	}
	sum := e.base
	for _, t := range e.trees {
		sum += float64(t.nodes[t.leafOf(*kept)].value)
	}
	return uncertainty.Point(e.link.apply(sum)), nil
}

// PredictAll writes the prediction of every row of the row-major matrix x to
// out, on some goroutines. The error matches [regression.ErrDimension] or
// [regression.ErrNotFinite], for an infinite feature.
func (e *Ensemble) PredictAll(x, out []float64, threads int) error {
	if len(x) != len(out)*e.features {
		return &regression.DimensionError{What: "numbers in x", Have: len(x), Want: len(out) * e.features}
	}
	if len(out) == 0 {
		return nil
	}
	blocks := (len(out) + blockRows - 1) / blockRows
	threads = max(1, min(threads, blocks))
	errs := make([]error, threads)
	parallel(threads, threads, func(_, t int) {
		b := newBlock(e)
		for i := t; i < blocks; i += threads {
			start, end := i*blockRows, min((i+1)*blockRows, len(out))
			if err := b.predict(x[start*e.features:end*e.features], out[start:end], start); err != nil {
				errs[t] = err
				return
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Importance is the total gain of the splits on each feature.
func (e *Ensemble) Importance() []float64 {
	gains := make([]float64, e.features)
	for _, t := range e.trees {
		for i, n := range t.nodes {
			if n.feature >= 0 {
				gains[n.feature] += float64(t.facts[i].gain)
			}
		}
	}
	return gains
}

// Unscaled is the same ensemble for features that were not scaled: where e takes
// (x - center) / scale, it takes x. Only the leading features that center and
// scale name are scaled. For x that float32 can hold both answer the same. The
// error matches [regression.ErrDimension] or [regression.ErrSetting] (a scale
// that is not above 0).
func (e *Ensemble) Unscaled(center, scale []float64) (*Ensemble, error) {
	if len(center) != len(scale) || len(center) > e.features {
		return nil, &regression.DimensionError{What: "scaled features", Have: len(scale), Want: len(center)}
	}
	for i, s := range scale {
		if !(s > 0) || !finite(s) || !finite(center[i]) {
			return nil, &regression.SettingError{Name: "scale", Value: s, Want: "above 0"}
		}
	}
	out := *e
	out.trees = make([]*decisionTree, len(e.trees))
	for i, t := range e.trees {
		c := *t
		c.nodes = append([]node(nil), t.nodes...)
		for k := range c.nodes {
			if n := &c.nodes[k]; n.feature >= 0 && int(n.feature) < len(center) && n.set() < 0 {
				n.value = preimage(n.value, center[n.feature], scale[n.feature])
			}
		}
		c.prepare()
		out.trees[i] = &c
	}
	return &out, nil
}

// preimage is the smallest float32 whose scaled value rounds to t or above.
func preimage(t float32, center, scale float64) float32 {
	below := math.Nextafter32(t, float32(math.Inf(-1)))
	x := center + scale*(float64(t)+float64(below))/2
	if y := float32(x); float64(y) >= x {
		return y
	}
	return math.Nextafter32(float32(x), float32(math.Inf(1)))
}
