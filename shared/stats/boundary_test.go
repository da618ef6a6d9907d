package stats_test

import (
	"testing"

	"github.com/foretime/foretime/shared/stats"
)

// TestRanksOfFour lists the ranks of four values at, below and above each whole multiple of a
// quarter, for p with exact binary fractions.
func TestRanksOfFour(t *testing.T) {
	s := stats.Sorted{10, 20, 40, 80}
	for _, tt := range []struct{ p, quantile, nearest, next float64 }{
		{0, 10, 10, 10},
		{0.125, 13.75, 10, 10},
		{0.25, 17.5, 10, 20},
		{0.375, 22.5, 20, 20},
		{0.5, 30, 20, 40},
		{0.625, 37.5, 40, 40},
		{0.75, 50, 40, 80},
		{0.875, 65, 80, 80},
		{1, 80, 80, 80},
	} {
		if got := s.Quantile(tt.p); got != tt.quantile {
			t.Errorf("Quantile(%v) = %v, want %v", tt.p, got, tt.quantile)
		}
		if got := s.NearestRank(tt.p); got != tt.nearest {
			t.Errorf("NearestRank(%v) = %v, want %v", tt.p, got, tt.nearest)
		}
		if got := s.NextRank(tt.p); got != tt.next {
			t.Errorf("NextRank(%v) = %v, want %v", tt.p, got, tt.next)
		}
	}
}

func TestMiddles(t *testing.T) {
	for _, tt := range []struct {
		s           stats.Sorted
		median, mad float64
	}{
		{stats.Sorted{1}, 1, 0}, {stats.Sorted{1, 3}, 2, 1}, {stats.Sorted{1, 3, 8}, 3, 2}, {stats.Sorted{1, 3, 8, 20}, 5.5, 3.5},
	} {
		if tt.s.Median() != tt.median || tt.s.MAD() != tt.mad {
			t.Errorf("%v: median %v, deviation %v", tt.s, tt.s.Median(), tt.s.MAD())
		}
	}
}

// TestShares panics for a share outside of 0 to 1.
func TestShares(t *testing.T) {
	for _, p := range []float64{-0.001, 1.001} {
		for name, f := range map[string]func(float64) float64{"Quantile": stats.Sorted{1}.Quantile, "NearestRank": stats.Sorted{1}.NearestRank, "NextRank": stats.Sorted{1}.NextRank} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s(%v) has an answer", name, p)
					}
				}()
				f(p)
			}()
		}
	}
}
