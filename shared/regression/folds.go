package regression

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Fold is one round of a validation: the rows to learn from and the rows to be
// judged by. No row is in both.
type Fold struct {
	Train []int // ascending, except in time order for TimeFolds
	Test  []int
}

// RowFolds deals n rows at random into k test sets whose sizes differ by one at
// most. The error matches [ErrSetting] (k below 2) or [ErrTooFew] (n below k).
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

// GroupFolds puts all rows of a group into the same test set, so that a model
// is judged only on groups it has not seen: groups[i] is the group of row i.
// Groups are dealt from the largest down, each to the smallest test set so far;
// the seed breaks ties. The error matches [ErrSetting] or [ErrTooFew] (fewer
// groups than k).
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

// TimeFolds judges a model only on what came after all it has learnt from. The
// rows, in order of time, are cut into k+1 blocks of about equal size; fold i
// tests on block i+1 and learns from all rows that are earlier than that
// block's first time by more than embargoSeconds. Rows of one time are never
// parted. Leave as much embargo as an outcome needs to become known: a row whose
// outcome was still open when the test began must not be learnt from.
//
// A fold that has nothing left to learn from is an error that matches
// [ErrTooFew], as is too few distinct times; [ErrSetting] and [ErrNotFinite]
// are the others.
func TimeFolds(timesSeconds []float64, k int, embargoSeconds float64) ([]Fold, error) {
	if err := checkValues("time", timesSeconds, 0); err != nil {
		return nil, err
	}
	if !(embargoSeconds >= 0) || !finite(embargoSeconds) {
		return nil, &SettingError{Name: "embargoSeconds", Value: embargoSeconds, Want: "0 or more"}
	}
	blocks, err := timeBlocks(timesSeconds, k)
	if err != nil {
		return nil, err
	}
	var folds []Fold
	var earlier []int
	for i, block := range blocks {
		if i > 0 {
			limit := timesSeconds[block[0]] - embargoSeconds
			train := slices.DeleteFunc(slices.Clone(earlier), func(r int) bool { return timesSeconds[r] >= limit })
			if len(train) == 0 {
				return nil, fmt.Errorf("fold %d, embargo %v s: %w", i-1, embargoSeconds, &TooFewError{What: "samples to learn from", Have: 0, Need: 1})
			}
			folds = append(folds, Fold{Train: train, Test: block})
		}
		earlier = append(earlier, block...)
	}
	return folds, nil
}

// timeBlocks cuts the rows, in order of time, into k+1 blocks that part no two
// rows of one time.
func timeBlocks(times []float64, k int) ([][]int, error) {
	if k < 1 {
		return nil, &SettingError{Name: "k", Value: k, Want: "1 or more"}
	}
	order := make([]int, len(times))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(times[a], times[b]) })
	var blocks [][]int
	start := 0
	for b := 1; b <= k+1; b++ {
		end := max(len(order)*b/(k+1), start)
		for end > 0 && end < len(order) && times[order[end]] == times[order[end-1]] {
			end++
		}
		if end == start {
			return nil, &TooFewError{What: "distinct times", Have: distinct(times), Need: k + 1}
		}
		blocks = append(blocks, order[start:end:end])
		start = end
	}
	return blocks, nil
}

func distinct(values []float64) int {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return len(slices.Compact(sorted))
}

func checkFolds(what string, n, k int) error {
	if k < 2 {
		return &SettingError{Name: "k", Value: k, Want: "2 or more"}
	}
	if n < k {
		return &TooFewError{What: what, Have: n, Need: k}
	}
	return nil
}

// foldsOf turns the test set of each row into folds.
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

// CrossPredict predicts each test row of the folds with a model that was fitted
// on that fold's training rows. It returns the rows tested, fold by fold, and
// their predictions in the same order; give the targets of these rows and the
// predictions to [Evaluate]. An error names the fold.
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

// random is the one source of randomness of this package.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) }
