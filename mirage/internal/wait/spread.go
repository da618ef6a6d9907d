package wait

import (
	"slices"

	"github.com/foretime/foretime/shared/uncertainty"
)

// fewestStarts is the number of jobs that must have started before a distribution is
// given.
const fewestStarts = 20

// latePart is the part of the promised misses that an end of an interval aims at; nearer
// the median it rises to 1. The wait is known only when a job starts, so long waits are
// learnt too late, and aiming at all misses would miss more. Set on hpc2n, wagap and
// Lonestar6, February included.
const latePart = 0.6

// spread tracks the quantiles of the errors of predictions, on the scale of toScale.
type spread struct {
	level   float64
	chances []float64
	curve   *uncertainty.Curve
}

func newSpread(level float64) (*spread, error) {
	s := &spread{level: level, chances: gridChances(level)}
	aims := make([]float64, len(s.chances))
	for i, chance := range s.chances {
		miss := min(chance, 1-chance)
		aims[i] = miss * (latePart + (1-latePart)*2*miss)
		if chance > 0.5 {
			aims[i] = 1 - aims[i]
		}
	}
	var err error
	s.curve, err = uncertainty.NewCurve(aims...)
	return s, err
}

// learn adds a prediction and the actual wait, in seconds.
func (s *spread) learn(predicted, actual float64) {
	_ = s.curve.Observe(toScale(predicted), toScale(actual)) // waits are finite
}

// about returns the distribution about a predicted wait of so many seconds, which is its
// median: the tracked median learns of long waits too late. The nearer a quantile is to
// the median, the more it moves with it.
func (s *spread) about(seconds float64) Distribution {
	seconds = dropFraction(seconds)
	if s.curve.Seen() < fewestStarts {
		return Distribution{Value: seconds, Level: s.level}
	}
	value := toScale(seconds)
	ends := s.curve.About(value)
	shift := value - ends[slices.Index(s.chances, 0.5)]
	return Quantiles(s.level, func(chance float64) float64 {
		at, _ := slices.BinarySearch(s.chances, chance)
		end := ends[at] + shift*2*min(chance, 1-chance)
		switch {
		case chance < 0.5:
			return dropFraction(fromScale(min(end, value)))
		case chance > 0.5:
			return dropFraction(fromScale(max(end, value)))
		}
		return seconds
	})
}

// dropFraction returns a wait in seconds, 0 if it is below 1 s: Slurm's times are whole seconds.
func dropFraction(seconds float64) float64 {
	if seconds < 1 {
		return 0
	}
	return seconds
}
