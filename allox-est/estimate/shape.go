package estimate

import (
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/stats"
)

// shape is what the laps show of a job's course.
type shape struct {
	warm     int      // epochs of warm-up
	out      [][]bool // per track and epoch: it stands out
	outliers int
	period   int // of those that stand out; 0 if they have none
}

// look finds the warm-up, then the epochs that stand out after it.
func look(ts []track) shape {
	s := shape{warm: warmUp(ts)}
	var steady []float64
	for _, t := range ts {
		if len(t.epochs) > s.warm {
			steady = append(steady, t.epochs[s.warm:]...)
		}
	}
	limit := math.Inf(1)
	if len(steady) >= 4 {
		m := stats.Median(steady)
		limit = m + max(5*max(deviation(steady), 0.01*m), 0.3*m)
	}
	for _, t := range ts {
		out := make([]bool, len(t.epochs))
		for i, x := range t.epochs {
			if i >= s.warm && x > limit {
				out[i] = true
				s.outliers++
			}
		}
		s.out = append(s.out, out)
	}
	s.period = s.findPeriod(ts)
	return s
}

// warmUp returns how many epochs at the start take longer than those of the
// later half of the samples. Taking an epoch for warm-up that is none costs a
// little data; the other way round it costs a bias.
func warmUp(ts []track) int {
	var late []float64
	longest := 0
	for _, t := range ts {
		late = append(late, t.epochs[len(t.epochs)/2:]...)
		longest = max(longest, len(t.epochs))
	}
	usual := stats.Median(late)
	if usual <= 0 {
		return 0 // the marks are finer than the clock
	}
	noise := max(0.02, deviation(late)/usual)
	warm := 0
	for ; warm < longest-2; warm++ {
		var here []float64
		for _, t := range ts {
			if len(t.epochs) > warm+1 {
				here = append(here, t.epochs[warm])
			}
		}
		limit := usual * (1 + max(0.1, 2*noise/math.Sqrt(float64(len(here)))))
		if len(here) == 0 || mean(here) <= limit {
			break
		}
	}
	if warm == longest-2 && longest > 2 && warm > longest/2 {
		return 0 // it never settles: that is a trend
	}
	return warm
}

// findPeriod returns the number p if the epochs that stand out are exactly the
// multiples of p, in every track.
func (s shape) findPeriod(ts []track) int {
	if s.outliers == 0 {
		return 0
	}
	p := math.MaxInt
	for i, t := range ts {
		for k, out := range s.out[i] {
			if out {
				p = min(p, t.first+k)
			}
		}
	}
	if p < 2 {
		return 0
	}
	for i, t := range ts {
		for k, out := range s.out[i] {
			if k >= s.warm && out != ((t.first+k)%p == 0) {
				return 0
			}
		}
	}
	return p
}

func (s shape) warnings(ts []track) []error {
	var w []error
	switch {
	case s.period > 0:
		w = append(w, fmt.Errorf("%w: a cost every %d epochs, from %d seen", ErrPeriod, s.period, s.outliers))
	case s.outliers > 0:
		w = append(w, fmt.Errorf("%w: %d seen", ErrRecurring, s.outliers))
	}
	var plain [][]float64
	for i, t := range ts {
		var g []float64
		for k, x := range t.epochs {
			if k >= s.warm && !s.out[i][k] {
				g = append(g, x)
			}
		}
		if len(g) > 1 {
			plain = append(plain, g)
		}
	}
	if slope, t := trend(plain); math.Abs(t) > 4 && math.Abs(slope) > 0.001 {
		w = append(w, fmt.Errorf("%w: %+.1f %% an epoch", ErrTrend, 100*slope))
	}
	return w
}
