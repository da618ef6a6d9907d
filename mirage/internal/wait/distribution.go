package wait

import (
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Start is the chance that a job starts within so many seconds.
type Start struct {
	Seconds float64 `json:"seconds"`
	Chance  float64 `json:"chance"`
}

// Distribution is the distribution of a wait in seconds.
type Distribution struct {
	Value  float64 // the median, from 0
	Level  float64 // of the interval
	starts []Start // in ascending order; empty if only the value is known
}

// curveChances returns the probabilities that a printed curve shows.
func curveChances() []float64 {
	return []float64{0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95}
}

// gridChances returns the probabilities of the quantiles of a distribution in ascending
// order: those of a printed curve, and the ends of the usual intervals and of a level's.
func gridChances(level float64) []float64 {
	tail := math.Round(1e9*(1-level)/2) / 1e9
	chances := append(curveChances(), 0.005, 0.01, 0.025, 0.975, 0.99, 0.995, tail, 1-tail)
	slices.Sort(chances)
	return slices.Compact(chances)
}

// Quantiles returns the distribution with the quantiles that an interval of a level and a
// curve need.
func Quantiles(level float64, quantile func(chance float64) float64) Distribution {
	d := Distribution{Value: max(quantile(0.5), 0), Level: level}
	for _, chance := range gridChances(level) {
		d.starts = append(d.starts, Start{max(quantile(chance), 0), chance})
	}
	return d
}

// FromSamples returns the distribution of sampled waits, which ends at the longest.
func FromSamples(level float64, waits stats.Sorted) Distribution {
	d := Quantiles(level, waits.Quantile)
	d.starts = append(d.starts, Start{waits.Quantile(1), 1})
	return d
}

// Known reports whether more than the value is known.
func (d Distribution) Known() bool { return len(d.starts) > 0 }

// Interval returns the value with its interval; an open one if only the value is known.
func (d Distribution) Interval() uncertainty.Prediction {
	p := uncertainty.Point(d.Value)
	p.Level = d.Level
	if d.Known() {
		p.Low, p.High = d.By((1-d.Level)/2), d.By((1+d.Level)/2)
	}
	return p
}

// StretchTo returns the distribution with each side stretched about the value until its
// interval has the ends of p. A side without width becomes an even one.
func (d Distribution) StretchTo(p uncertainty.Prediction) Distribution {
	before := d.Interval()
	out := Distribution{Value: p.Value, Level: d.Level}
	for _, s := range d.starts {
		end, was := p.High-p.Value, before.High-before.Value
		if s.Chance < 0.5 {
			end, was = p.Low-p.Value, before.Low-before.Value
		}
		away := end * math.Abs(2*s.Chance-1) / d.Level
		if was != 0 {
			away = end * (s.Seconds - d.Value) / was
		}
		out.starts = append(out.starts, Start{max(p.Value+away, 0), s.Chance})
	}
	return out
}

// Chance returns the probability of a wait of at most so many seconds. Beyond the last
// quantile the remaining probability falls as the inverse of the wait. Of a distribution
// that is not Known it is 0.
func (d Distribution) Chance(seconds float64) float64 {
	var before Start
	for _, s := range d.starts {
		if seconds < s.Seconds {
			return max(before.Chance+(seconds-before.Seconds)/(s.Seconds-before.Seconds)*(s.Chance-before.Chance), 0)
		}
		before = s
	}
	if before.Seconds == 0 { // no wait in any quantile
		return before.Chance
	}
	return 1 - (1-before.Chance)*before.Seconds/seconds
}

// By returns the seconds within which the job starts with a probability, the inverse of
// Chance up to the last quantile, which is returned for higher ones.
func (d Distribution) By(chance float64) float64 {
	var before Start
	for _, s := range d.starts {
		if chance < s.Chance {
			return before.Seconds + (chance-before.Chance)/(s.Chance-before.Chance)*(s.Seconds-before.Seconds)
		}
		before = s
	}
	return before.Seconds
}

// Curve returns the starts at the probabilities of a printed curve; none if only the
// value is known.
func (d Distribution) Curve() (curve []Start) {
	for _, s := range d.starts {
		if slices.Contains(curveChances(), s.Chance) {
			curve = append(curve, s)
		}
	}
	return curve
}

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
