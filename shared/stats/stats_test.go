package stats_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/stats"
)

// TestAgainstR compares with R 4.3: x <- c(3, 1, 4, 1, 5, 9, 2, 6); quantile(x, p),
// quantile(x, p, type = 1), median(x), mad(x, constant = 1).
// NextRank is sort(x)[min(floor(n p) + 1, n)].
func TestAgainstR(t *testing.T) {
	x := []float64{3, 1, 4, 1, 5, 9, 2, 6}
	s := stats.Sort(x)
	for _, c := range []struct{ p, seventh, nearest, next float64 }{
		{0, 1, 1, 1}, {0.1, 1, 1, 1}, {0.25, 1.75, 1, 2}, {0.3, 2.1, 2, 2},
		{0.5, 3.5, 3, 4}, {0.75, 5.25, 5, 6}, {0.9, 6.9, 9, 9}, {1, 9, 9, 9},
	} {
		if got := s.Quantile(c.p); !(math.Abs(got-c.seventh) <= 1e-12) {
			t.Errorf("Quantile(%v) = %v, want %v", c.p, got, c.seventh)
		}
		if got := stats.Quantile(x, c.p); got != s.Quantile(c.p) {
			t.Errorf("unsorted Quantile(%v) = %v", c.p, got)
		}
		if got := s.NearestRank(c.p); got != c.nearest {
			t.Errorf("NearestRank(%v) = %v, want %v", c.p, got, c.nearest)
		}
		if got := s.NextRank(c.p); got != c.next {
			t.Errorf("NextRank(%v) = %v, want %v", c.p, got, c.next)
		}
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"median", stats.Median(x), 3.5},
		{"median absolute deviation", s.MAD(), 2},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-12) {
			t.Errorf("%s %v, want %v", c.name, c.got, c.want)
		}
	}
	if x[0] != 3 || x[7] != 6 {
		t.Errorf("the values were changed: %v", x)
	}
}

// TestAgainstNumPy compares with numpy 2.4.6: numpy.quantile([2.5, -1, 7, 3, 3,
// 12.25, 0.5], p).
func TestAgainstNumPy(t *testing.T) {
	values := []float64{2.5, -1, 7, 3, 3, 12.25, 0.5}
	for _, c := range []struct{ p, want float64 }{
		{0, -1}, {0.1, -0.1}, {0.25, 1.5}, {0.5, 3}, {0.9, 9.1}, {0.975, 11.4625}, {1, 12.25},
	} {
		if got := stats.Quantile(values, c.p); !(math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("Quantile(%v) = %v, want %v", c.p, got, c.want)
		}
	}
}

func TestOneValue(t *testing.T) {
	s := stats.Sorted{7}
	for name, got := range map[string]float64{
		"quantile": s.Quantile(0.3), "nearest": s.NearestRank(0.3), "next": s.NextRank(1), "median": s.Median(), "mad": s.MAD() + 7,
	} {
		if got != 7 {
			t.Errorf("%s of one value: %v", name, got)
		}
	}
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stats.Sort(rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "values"))
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		q := rapid.Float64Range(p, 1).Draw(t, "q")
		for name, of := range map[string]func(float64) float64{"quantile": s.Quantile, "nearest": s.NearestRank, "next": s.NextRank} {
			if low, high := of(p), of(q); low > high+1e-6 || low < s[0] || high > s[len(s)-1] {
				t.Errorf("%s: %v at %v, %v at %v", name, low, p, high, q)
			}
		}
		if low, high := s.NearestRank(p), s.NextRank(p); low > high {
			t.Errorf("nearest rank %v above the next, %v", low, high)
		}
	})
}

func TestPreconditions(t *testing.T) {
	for name, f := range map[string]func(){
		"no values":     func() { stats.Median(nil) },
		"share above 1": func() { stats.Quantile([]float64{1}, 1.1) },
		"share NaN":     func() { stats.Quantile([]float64{1}, math.NaN()) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: an answer", name)
				}
			}()
			f()
		}()
	}
}
