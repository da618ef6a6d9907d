package linear

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
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

// Slope is the slope alone, with Sen's interval for it at a level in (0, 1):
// the slopes whose ranks lie as many deviations of Kendall's S from the middle
// as the normal quantile says. Samples are as for Fit.
func (t TheilSen) Slope(s regression.Samples, level float64) (uncertainty.Prediction, error) {
	level, err := levelOr(level)
	if err != nil {
		return uncertainty.Prediction{}, err
	}
	slopes, err := t.slopes(s)
	if err != nil {
		return uncertainty.Prediction{}, err
	}
	n := float64(s.Len())
	variance := (kendall(n) - tied(s.X) - tied(s.Y)) / 18
	pairs := float64(len(slopes))
	share := 1.0
	if all := n * (n - 1) / 2; all > float64(t.maxPairs()) {
		share = pairs / all // the ranks of the pairs drawn stand for those of all
	}
	reach := distuv.UnitNormal.Quantile((1+level)/2) * math.Sqrt(max(variance, 0)) * share
	low := max(int(math.RoundToEven((pairs-reach)/2))-1, 0)
	high := min(int(math.RoundToEven((pairs+reach)/2)), len(slopes)-1)
	return uncertainty.Prediction{Value: stats.Sorted(slopes).Median(), Low: slopes[low], High: slopes[high], Level: level}, nil
}

// kendall is n(n-1)(2n+5), 18 times the variance of Kendall's S without ties.
func kendall(n float64) float64 { return n * (n - 1) * (2*n + 5) }

// tied is what ties among the values take from 18 times the variance.
func tied(values []float64) float64 {
	count := map[float64]float64{}
	for _, v := range values {
		count[v]++
	}
	sizes := make([]float64, 0, len(count))
	for _, n := range count {
		sizes = append(sizes, kendall(n))
	}
	slices.Sort(sizes) // one order of summing, one result
	sum := 0.0
	for _, v := range sizes {
		sum += v
	}
	return sum
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
