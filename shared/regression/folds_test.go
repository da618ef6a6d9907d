package regression

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/uncertainty"
)

// checkPartition reports rows that the folds do not test exactly once, or use for
// both training and testing.
func checkPartition(t rapid.TB, n int, folds []Fold) {
	t.Helper()
	tested := make([]int, n)
	for f, fold := range folds {
		in := make([]int, n)
		for _, r := range fold.Test {
			tested[r]++
			in[r]++
		}
		for _, r := range fold.Train {
			in[r]++
		}
		if slices.Max(in) != 1 || slices.Min(in) != 1 {
			t.Fatalf("fold %d: a row is missing or in both sets: %v", f, in)
		}
	}
	if slices.Max(tested) != 1 || slices.Min(tested) != 1 {
		t.Fatalf("rows tested %v times", tested)
	}
}

func TestRowFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 8).Draw(t, "k")
		n := rapid.IntRange(k, 60).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		folds, err := RowFolds(n, k, seed)
		if err != nil || len(folds) != k {
			t.Fatalf("%d folds, %v", len(folds), err)
		}
		checkPartition(t, n, folds)
		for _, f := range folds {
			if len(f.Test) < n/k || len(f.Test) > n/k+1 {
				t.Fatalf("test set of %d rows, %d rows in %d folds", len(f.Test), n, k)
			}
		}
		if again, _ := RowFolds(n, k, seed); !reflect.DeepEqual(folds, again) {
			t.Fatal("the same seed gave other folds")
		}
	})
	a, _ := RowFolds(50, 5, 1)
	b, _ := RowFolds(50, 5, 2)
	if reflect.DeepEqual(a, b) {
		t.Error("two seeds gave the same folds")
	}
}

func TestGroupFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 5).Draw(t, "k")
		groups := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 60).Draw(t, "groups")
		folds, err := GroupFolds(groups, k, 7)
		if distinct := len(slices.Compact(slices.Sorted(slices.Values(groups)))); distinct < k {
			if !errors.Is(err, ErrTooFew) {
				t.Fatalf("%d groups in %d folds: %v", distinct, k, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkPartition(t, len(groups), folds)
		rows, largest := make([]int, k), 0
		for _, g := range groups {
			size := 0
			for _, other := range groups {
				if other == g {
					size++
				}
			}
			largest = max(largest, size)
		}
		for i, f := range folds {
			rows[i] = len(f.Test)
		}
		if slices.Max(rows)-slices.Min(rows) > largest {
			t.Fatalf("test sets of %v rows, largest group of %d", rows, largest)
		}
		for i, f := range folds {
			for _, test := range f.Test {
				if slices.ContainsFunc(f.Train, func(r int) bool { return groups[r] == groups[test] }) {
					t.Fatalf("fold %d tests group %d and learns from it", i, groups[test])
				}
			}
		}
	})
}

func TestGroupFoldsBalance(t *testing.T) {
	folds, err := GroupFolds([]string{"a", "a", "a", "a", "a", "b", "c", "d", "e", "f"}, 2, 1)
	if err != nil || len(folds[0].Test) != 5 || len(folds[1].Test) != 5 {
		t.Errorf("%v, %v: want five rows in each test set", folds, err)
	}
}

func TestFoldErrors(t *testing.T) {
	row := func(n, k int) error { _, err := RowFolds(n, k, 1); return err }
	group := func(k int, g ...string) error { _, err := GroupFolds(g, k, 1); return err }
	for i, c := range []struct{ got, want error }{
		{row(0, 2), ErrTooFew},
		{row(1, 2), ErrTooFew},
		{row(5, 1), ErrSetting},
		{group(2), ErrTooFew},
		{group(2, "a", "a"), ErrTooFew},
		{group(0, "a", "b"), ErrSetting},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("case %d: got %v, want %v", i, c.got, c.want)
		}
	}
}

// meanFitter predicts the mean target for any features.
type meanFitter struct{}

type meanModel struct {
	features int
	value    float64
}

func (meanFitter) Fit(_ context.Context, s Samples) (Model, error) {
	if err := s.Check(Needs{MinRows: 1}); err != nil {
		return nil, err
	}
	return meanModel{s.Features, stat.Mean(s.Y, nil)}, nil
}

func (m meanModel) Features() int { return m.features }

func (m meanModel) Predict(x []float64) (uncertainty.Prediction, error) {
	if err := CheckRow(x, m.features, false); err != nil {
		return uncertainty.Prediction{}, err
	}
	return uncertainty.Point(m.value), nil
}

func TestCrossPredict(t *testing.T) {
	s := Samples{Y: []float64{1, 2, 3, 4}}
	rows, predicted, err := CrossPredict(context.Background(), meanFitter{}, s, []Fold{{[]int{0, 1}, []int{2}}, {[]int{0, 1, 2}, []int{3}}})
	if err != nil || !slices.Equal(rows, []int{2, 3}) || len(predicted) != 2 || predicted[0].Value != 1.5 || predicted[1].Value != 2 {
		t.Errorf("rows %v, predicted %v, %v", rows, predicted, err)
	}
	if _, _, err := CrossPredict(context.Background(), meanFitter{}, s, []Fold{{nil, []int{2}}}); !errors.Is(err, ErrTooFew) {
		t.Errorf("a fold with nothing to learn from: %v", err)
	}
}
