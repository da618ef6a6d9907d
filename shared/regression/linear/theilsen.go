package linear

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/stats"
)

// TheilSen is the line of one feature whose slope is the median of the slopes
// between all pairs of samples, and whose intercept is the median of what that
// slope leaves (Sen, "Estimates of the Regression Coefficient Based on Kendall's
// Tau", JASA 63, 1968). Up to 29 % of the samples may be arbitrarily wrong. It
// gives no interval for a prediction; [Slope] gives one for the slope.
type TheilSen struct {
	// MaxPairs is how many pairs of samples are compared; 0 means 5,000,000,
	// that is all pairs of 3,163 samples. Of more, as many are drawn at random.
	MaxPairs int
	Seed     uint64
}

var _ regression.Fitter[*Model] = TheilSen{}

// Fit fits. At least 2 samples of exactly one feature are needed, and weights
// are refused. The error matches [regression.ErrTooFew],
// [regression.ErrConstant], [regression.ErrNotFinite],
// [regression.ErrDimension] or [regression.ErrSetting].
func (t TheilSen) Fit(_ context.Context, s regression.Samples) (*Model, error) {
	slopes, err := t.slopes(s)
	if err != nil {
		return nil, err
	}
	slope := stats.Sorted(slopes).Median()
	left := make([]float64, s.Len())
	for i := range left {
		left[i] = s.Y[i] - slope*s.X[i]
	}
	slices.Sort(left)
	return &Model{Intercept: stats.Sorted(left).Median(), Coefficients: []float64{slope}}, nil
}

func (t TheilSen) maxPairs() int {
	if t.MaxPairs == 0 {
		return 5_000_000
	}
	return t.MaxPairs
}

// slopes are the sorted slopes of the pairs whose feature differs.
func (t TheilSen) slopes(s regression.Samples) ([]float64, error) {
	if t.MaxPairs < 0 {
		return nil, &regression.SettingError{Name: "MaxPairs", Value: t.MaxPairs, Want: "0 or more"}
	}
	if s.Features != 1 {
		return nil, &regression.DimensionError{What: "features of a Theil-Sen line", Have: s.Features, Want: 1}
	}
	if err := s.Check(regression.Needs{MinRows: 2, Varying: true, Unweighted: true}); err != nil {
		return nil, err
	}
	var out []float64
	add := func(i, j int) {
		if dx := s.X[j] - s.X[i]; dx != 0 {
			out = append(out, (s.Y[j]-s.Y[i])/dx)
		}
	}
	if n := s.Len(); n*(n-1)/2 <= t.maxPairs() {
		for i := range n {
			for j := i + 1; j < n; j++ {
				add(i, j)
			}
		}
	} else {
		t.draw(n, add)
	}
	if len(out) == 0 {
		return nil, &regression.TooFewError{What: "pairs of samples whose feature differs", Have: 0, Need: 1}
	}
	slices.Sort(out)
	return out, nil
}

// draw compares MaxPairs random pairs of different samples.
func (t TheilSen) draw(n int, add func(i, j int)) {
	rng := rand.New(rand.NewPCG(t.Seed, 0x7e115e9))
	for range t.maxPairs() {
		i, j := rng.IntN(n), rng.IntN(n-1)
		if j >= i {
			j++
		}
		add(i, j)
	}
}
