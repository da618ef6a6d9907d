package regression

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Fold is one round of a validation: the rows to train on and the rows to test on.
// No row is in both.
type Fold struct {
	Train []int // ascending
	Test  []int
}

// RowFolds divides n rows at random into k test sets whose sizes differ by at most
// one. The error matches [ErrSetting] (k below 2) or [ErrTooFew] (n below k).
func RowFolds(n, k int, seed uint64) ([]Fold, error) {
	if err := checkFolds("samples", n, k); err != nil {
		return nil, err
	}
	foldOf := make([]int, n)
	for i, row := range random(seed).Perm(n) {
		foldOf[row] = i % k
	}
	return foldsOf(foldOf, k), nil
}

// GroupFolds puts all rows of a group into the same test set; a model is then
// tested only on groups it has not seen. groups[i] is the group of row i. Groups
// are assigned from the largest down, each to the smallest test set so far; the
// seed breaks ties. The error matches [ErrSetting] or [ErrTooFew] (fewer groups
// than k).
func GroupFolds[G cmp.Ordered](groups []G, k int, seed uint64) ([]Fold, error) {
	size := map[G]int{}
	for _, g := range groups {
		size[g]++
	}
	if err := checkFolds("groups", len(size), k); err != nil {
		return nil, err
	}
	foldOf, rows := map[G]int{}, make([]int, k)
	for _, g := range largestFirst(size, seed) {
		smallest := slices.Index(rows, slices.Min(rows))
		foldOf[g] = smallest
		rows[smallest] += size[g]
	}
	perRow := make([]int, len(groups))
	for i, g := range groups {
		perRow[i] = foldOf[g]
	}
	return foldsOf(perRow, k), nil
}

// largestFirst orders groups by falling size, equal ones at random.
func largestFirst[G cmp.Ordered](size map[G]int, seed uint64) []G {
	order := make([]G, 0, len(size))
	for g := range size {
		order = append(order, g)
	}
	slices.Sort(order)
	random(seed).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, func(a, b G) int { return cmp.Compare(size[b], size[a]) })
	return order
}

func checkFolds(what string, n, k int) error {
	if k < 2 {
		return Setting("k", k, "2 or more")
	}
	if n < k {
		return TooFew(what, n, k)
	}
	return nil
}

// foldsOf returns the folds, given the test set of each row.
func foldsOf(foldOf []int, k int) []Fold {
	folds := make([]Fold, k)
	for row, test := range foldOf {
		for f := range folds {
			if f == test {
				folds[f].Test = append(folds[f].Test, row)
			} else {
				folds[f].Train = append(folds[f].Train, row)
			}
		}
	}
	return folds
}

// CrossPredict predicts each test row of the folds with a model that was fitted on
// that fold's training rows. It returns the tested rows, fold by fold, and their
// predictions in the same order; pass the targets of these rows and the predictions
// to [Evaluate]. An error names the fold.
func CrossPredict[M Model](ctx context.Context, f Fitter[M], s Samples, folds []Fold) (rows []int, predicted []uncertainty.Prediction, err error) {
	for i, fold := range folds {
		m, err := f.Fit(ctx, s.Select(fold.Train))
		if err != nil {
			return nil, nil, fmt.Errorf("fit fold %d: %w", i, err)
		}
		ps, err := PredictAll(m, s.Select(fold.Test))
		if err != nil {
			return nil, nil, fmt.Errorf("fold %d: %w", i, err)
		}
		rows, predicted = append(rows, fold.Test...), append(predicted, ps...)
	}
	return rows, predicted, nil
}

// random returns a generator with a seed: the only source of randomness of this package.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) }
