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

// Features returns the width of the rows that the model was fitted on.
func (e *Ensemble) Features() int { return e.features }

// Trees returns the number of trees.
func (e *Ensemble) Trees() int { return len(e.trees) }

// Names returns the names of the features, or nil if they have none.
func (e *Ensemble) Names() []string { return e.names }

// SetNames names the features. The error matches [regression.ErrDimension].
func (e *Ensemble) SetNames(names []string) error {
	if len(names) != e.features {
		return regression.Dimension("feature names", len(names), e.features)
	}
	e.names = append([]string(nil), names...)
	return nil
}

// scratch holds a row as float32.
var scratch = sync.Pool{New: func() any { return new([]float32) }}

// Predict returns the sum over the trees for one row, without an interval; see
// [uncertainty.NewBand] for one. It allocates nothing.
func (e *Ensemble) Predict(x []float64) (uncertainty.Prediction, error) {
	if err := regression.CheckRow(x, e.features, true); err != nil {
		return uncertainty.Prediction{}, err
	}
	kept := scratch.Get().(*[]float32)
	defer scratch.Put(kept)
	*kept = resize(*kept, len(x))
	for i, v := range x {
		(*kept)[i] = float32(v)
	}
	sum := e.base
	for _, t := range e.trees {
		sum += float64(t.nodes[t.leafOf(*kept)].value)
	}
	return uncertainty.Point(e.link.apply(sum)), nil
}

// PredictAll writes the prediction of every row of the row-major matrix x to out,
// on the given number of goroutines. The error matches [regression.ErrDimension]
// or, for an infinite feature, [regression.ErrNotFinite].
func (e *Ensemble) PredictAll(x, out []float64, threads int) error {
	if len(x) != len(out)*e.features {
		return regression.Dimension("numbers in x", len(x), len(out)*e.features)
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
