package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// level is the posterior of a unit's time, relative to its mean over the laps seen. It is
// normal, given the noise of a lap and the difference between runs.
type level struct {
	noise, between float64
	mean, sd       float64 // of the level
}

// levelOf returns the posterior from groups of relative deviations, one group a run. Blur is
// the relative standard error with which each group's sum was measured. With alone the rest of
// the one run is asked for, whose own difference is in what is seen.
func levelOf(groups [][]float64, blur []float64, alone bool) level {
	l := level{noise: noiseWithin(groups)}
	if !alone {
		l.between = differenceBetween(groups)
	}
	weight, x := 0.0, 0.0
	for i, g := range groups {
		n := float64(len(g))
		shared := l.between*l.between + blur[i]*blur[i]
		shrink := 1 / (l.noise*l.noise + shared*n) // Sherman and Morrison
		weight += n * shrink
		x += floats.Sum(g) * shrink
	}
	l.mean = x / weight
	l.sd = math.Sqrt(1 / weight)
	return l
}

// noiseWithin returns the noise of a lap within its run; the prior weighs one observation.
func noiseWithin(groups [][]float64) float64 {
	squares, df := noiseSD*noiseSD, 1.0
	for _, g := range groups {
		m := mean(g)
		for _, x := range g {
			squares += (x - m) * (x - m)
		}
		df += float64(len(g) - 1)
	}
	return math.Sqrt(squares / df)
}

// differenceBetween returns the standard deviation between runs; the prior weighs betweenWorth.
func differenceBetween(groups [][]float64) float64 {
	means := make([]float64, len(groups))
	for i, g := range groups {
		means[i] = mean(g)
	}
	seen := variance(means) * float64(len(means)-1)
	return math.Sqrt((betweenWorth*betweenSD*betweenSD + seen) / (betweenWorth + float64(len(means)-1)))
}

// draw returns a level for a new run, or for the rest of the one, of so many laps:
// its own difference and the noise of their mean included.
func (l level) draw(rng *random, laps float64) float64 {
	own := l.noise / math.Sqrt(max(1, laps))
	return l.mean + rng.NormFloat64()*math.Sqrt(l.sd*l.sd+l.between*l.between+own*own)
}
