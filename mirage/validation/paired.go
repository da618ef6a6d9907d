package validation

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrPairs is returned when two policies have not played the same number of
// episodes, or fewer than two.
var ErrPairs = errors.New("episodes cannot be paired")

// Paired compares two policies on the same episodes.
type Paired struct {
	// Difference is the mean of the first's costs less the second's, in hours;
	// below zero the first is better. Low and High bound it 95 times of 100,
	// by bootstrap over episodes.
	Difference float64 `json:"difference_hours"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	// P is the two-sided significance of Wilcoxon's signed-rank test, by its
	// normal approximation with ties: the chance of ranks so uneven if neither
	// were better. Episodes that follow closely are not independent, so take
	// it as a lower bound.
	P float64 `json:"p"`
	// Verdict says it in words.
	Verdict string `json:"verdict"`
}

// Compare compares costs of the same episodes. The error wraps ErrPairs.
func Compare(a, b []float64, seed uint64) (Paired, error) {
	if len(a) != len(b) || len(a) < 2 {
		return Paired{}, fmt.Errorf("%w: %d and %d", ErrPairs, len(a), len(b))
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	ci, err := uncertainty.Bootstrap(d, mean, uncertainty.Resampling{Seed: seed})
	if err != nil {
		return Paired{}, err
	}
	p := Paired{Difference: ci.Value, Low: ci.Low, High: ci.High, P: signedRank(d)}
	switch {
	case p.P < .05 && p.High < 0:
		p.Verdict = "better"
	case p.P < .05 && p.Low > 0:
		p.Verdict = "worse"
	default:
		p.Verdict = "not told apart"
	}
	return p, nil
}

// signedRank is Wilcoxon's signed-rank test (Biometrics Bulletin 1(6), 1945):
// zeros are dropped, ties share their mean rank, and the sum of the positive
// ranks is compared with a normal distribution whose variance is corrected
// for ties. It is 1 where nothing is left.
func signedRank(d []float64) float64 {
	d = slices.DeleteFunc(slices.Clone(d), func(x float64) bool { return x == 0 })
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	n := float64(len(d))
	variance := n * (n + 1) * (2*n + 1) / 24
	positive := 0.0
	for i := 0; i < len(d); {
		j := i
		for j < len(d) && math.Abs(d[j]) == math.Abs(d[i]) {
			j++
		}
		rank, ties := float64(i+j+1)/2, float64(j-i)
		for _, x := range d[i:j] {
			if x > 0 {
				positive += rank
			}
		}
		variance -= (ties*ties*ties - ties) / 48
		i = j
	}
	if variance <= 0 {
		return 1
	}
	z := (positive - n*(n+1)/4) / math.Sqrt(variance)
	return math.Erfc(math.Abs(z) / math.Sqrt2)
}
