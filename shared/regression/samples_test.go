package regression

import (
	"errors"
	"math"
	"testing"
)

func TestCheck(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name  string
		s     Samples
		needs Needs
		want  error
		place string // in the message, "" for none
	}{
		{"fine", Samples{Features: 2, X: []float64{1, 2, 3, 4}, Y: []float64{1, 2}}, Needs{MinRows: 2, Varying: true}, nil, ""},
		{"empty", Samples{}, Needs{}, nil, ""},
		{"no features", Samples{Y: []float64{1}}, Needs{Varying: true}, nil, ""},
		{"missing allowed", Samples{Features: 1, X: []float64{nan, 1, 2}, Y: []float64{1, 2, 3}}, Needs{Missing: true, Varying: true}, nil, ""},
		{"negative width", Samples{Features: -1}, Needs{}, ErrSetting, "setting Features = -1: want it 0 or more"},
		{"short X", Samples{Features: 2, X: []float64{1, 2, 3}, Y: []float64{1, 2}}, Needs{}, ErrDimension, "numbers in X for 2 rows of 2 features: have 3, want 4"},
		{"weights", Samples{Y: []float64{1, 2}, Weights: []float64{1}}, Needs{}, ErrDimension, "weights: have 1, want 2"},
		{"weights refused", Samples{Y: []float64{1}, Weights: []float64{1}}, Needs{Unweighted: true}, ErrSetting, "setting Weights = 1: want it nil: this model does not use weights"},
		{"NaN feature", Samples{Features: 2, X: []float64{1, 2, 3, nan}, Y: []float64{1, 2}}, Needs{}, ErrNotFinite, "feature in row 1, column 1: unusable value NaN"},
		{"infinite feature", Samples{Features: 1, X: []float64{inf}, Y: []float64{1}}, Needs{Missing: true}, ErrNotFinite, "feature in row 0, column 0: unusable value +Inf"},
		{"NaN target", Samples{Y: []float64{1, nan}}, Needs{Missing: true}, ErrNotFinite, "target in row 1: unusable value NaN"},
		{"negative weight", Samples{Y: []float64{1}, Weights: []float64{-1}}, Needs{}, ErrNotFinite, "weight in row 0: unusable value -1"},
		{"too few", Samples{Y: []float64{1}}, Needs{MinRows: 2}, ErrTooFew, "too few samples: have 1, need at least 2"},
		{"too few of weight", Samples{Y: []float64{1, 2}, Weights: []float64{1, 0}}, Needs{MinRows: 2}, ErrTooFew, "too few samples: have 1, need at least 2"},
		{"constant", Samples{Features: 2, X: []float64{1, 7, 2, 7}, Y: []float64{1, 2}}, Needs{Varying: true}, ErrConstant, "feature in column 1 is constant: 7 in every sample"},
		{"constant where it weighs", Samples{Features: 1, X: []float64{7, 7, 8}, Y: []float64{1, 2, 3}, Weights: []float64{1, 1, 0}}, Needs{Varying: true}, ErrConstant, "feature in column 0 is constant: 7 in every sample"},
	} {
		err := c.s.Check(c.needs)
		if !errors.Is(err, c.want) || err != nil && err.Error() != c.place {
			t.Errorf("%s: got %v, want %v: %s", c.name, err, c.want, c.place)
		}
	}
}

func TestNewSamplesAndSelect(t *testing.T) {
	if _, err := NewSamples([][]float64{{1}}, nil); !errors.Is(err, ErrDimension) {
		t.Errorf("targets missing: %v", err)
	}
	if _, err := NewSamples([][]float64{{1}, {1, 2}}, []float64{1, 2}); !errors.Is(err, ErrDimension) {
		t.Errorf("ragged rows: %v", err)
	}
	s, err := NewSamples([][]float64{{1, 2}, {3, 4}, {5, 6}}, []float64{10, 20, 30})
	if err != nil {
		t.Fatal(err)
	}
	s.Weights = []float64{1, 2, 3}
	got := s.Select([]int{2, 0, 2})
	if got.Len() != 3 || got.Row(1)[1] != 2 || got.Row(2)[0] != 5 || got.Y[0] != 30 || got.Weight(1) != 1 {
		t.Errorf("Select: %+v", got)
	}
	got.X[0] = -1
	if s.X[4] != 5 {
		t.Error("Select shares memory with the samples it came from")
	}
}

func TestCheckRow(t *testing.T) {
	for _, c := range []struct {
		x       []float64
		missing bool
		want    error
	}{
		{[]float64{1, 2}, false, nil},
		{[]float64{1, math.NaN()}, true, nil},
		{[]float64{1, math.NaN()}, false, ErrNotFinite},
		{[]float64{1, math.Inf(-1)}, true, ErrNotFinite},
		{[]float64{1}, false, ErrDimension},
	} {
		if err := CheckRow(c.x, 2, c.missing); !errors.Is(err, c.want) {
			t.Errorf("CheckRow(%v, missing %v) = %v, want %v", c.x, c.missing, err, c.want)
		}
	}
}
