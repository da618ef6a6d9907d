package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// level is the posterior of a unit's time, relative to its mean over the laps seen:
// a grid over the noise of a lap and the difference between runs. Within a cell the
// level itself is normal.
type level struct {
	cells []cell
	upTo  []float64 // cumulative weights of cells
}

// cell is one point of the grid.
type cell struct {
	noise, between float64
	mean, sd       float64 // of the level
}

// The grid: the noise as a multiple of what the laps show, and the difference between
// runs.
var (
	noises   = []float64{0.4, 0.55, 0.7, 0.85, 1, 1.2, 1.5, 2, 2.8, 4}
	betweens = []float64{0.003, 0.01, 0.02, 0.03, 0.045, 0.065, 0.1, 0.15, 0.22, 0.32}
)

// levelOf makes the posterior from groups of relative deviations, one group a run.
// Blur is the relative standard error with which each group's sum was measured. With
// alone the rest of the one run is asked for, whose own difference is in what is seen.
func levelOf(groups [][]float64, blur []float64, alone bool) level {
	rough := spread(groups)
	choices := betweens
	if alone {
		choices = []float64{0}
	}
	var l level
	var logs []float64
	for _, f := range noises {
		for _, between := range choices {
			c, log := cellOf(groups, blur, f*rough, between)
			if !alone {
				log += prior(between)
			}
			l.cells, logs = append(l.cells, c), append(logs, log)
		}
	}
	best, sum := slices.Max(logs), 0.0
	for _, log := range logs {
		sum += math.Exp(log - best)
		l.upTo = append(l.upTo, sum)
	}
	for i := range l.upTo {
		l.upTo[i] /= sum
	}
	return l
}

// spread is the noise of a lap within its run, drawn towards the belief before
// looking.
func spread(groups [][]float64) float64 {
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

// prior is the logarithm of the density of the difference between runs: Student's
// of 3 degrees of freedom, on a grid whose points lie further apart the larger
// they are.
func prior(between float64) float64 {
	z := between / betweenSD
	return -2*math.Log(1+z*z/3) + math.Log(between)
}

// cellOf is the level's posterior and the logarithm of the likelihood in a cell,
// the level itself integrated out. The noise has a scaled inverse chi-squared prior
// worth one observation.
func cellOf(groups [][]float64, blur []float64, noise, between float64) (cell, float64) {
	var weight, x, xx, log float64
	s := noise * noise
	for i, g := range groups {
		n, gx, t := float64(len(g)), floats.Sum(g), between*between+blur[i]*blur[i]
		shrink := 1 / (s + t*n) // Sherman and Morrison
		weight += n * shrink
		x += gx * shrink
		xx += floats.Dot(g, g)/s - t*gx*gx*shrink/s
		log -= 0.5 * (n*math.Log(s) + math.Log(1+t*n/s))
	}
	log += -0.5*(xx-x*x/weight) - 0.5*math.Log(weight)
	log += -math.Log(noise) - 0.5*noiseSD*noiseSD/s
	return cell{noise, between, x / weight, math.Sqrt(1 / weight)}, log
}

// draw returns a level for a new run, or for the rest of the one, of so many laps:
// its own difference and the noise of their mean included.
func (l level) draw(rng *random, laps float64) float64 {
	i, _ := slices.BinarySearch(l.upTo, rng.Float64())
	c := l.cells[min(i, len(l.cells)-1)]
	own := c.noise / math.Sqrt(max(1, laps))
	return c.mean + rng.NormFloat64()*math.Sqrt(c.sd*c.sd+c.between*c.between+own*own)
}

// mean is the posterior mean of the level.
func (l level) mean() float64 { return l.over(func(c cell) float64 { return c.mean }) }

// noise is the posterior mean of a lap's noise.
func (l level) noise() float64 { return l.over(func(c cell) float64 { return c.noise }) }

func (l level) over(value func(cell) float64) float64 {
	s, before := 0.0, 0.0
	for i, c := range l.cells {
		s += (l.upTo[i] - before) * value(c)
		before = l.upTo[i]
	}
	return s
}
