package predictor

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// noise is how far jobs lie from the line through them: its standard deviation
// and what the line rests on. The zero value is noise that is not known.
type noise struct {
	sd, jobs, mean, sxx float64
}

// noiseOf measures the noise about the line a*x + b.
func noiseOf(xs, ys []float64, a, b float64) noise {
	n := noise{jobs: float64(len(xs))}
	if n.jobs < 3 {
		return noise{}
	}
	for _, x := range xs {
		n.mean += x / n.jobs
	}
	var squares float64
	for i, x := range xs {
		n.sxx += (x - n.mean) * (x - n.mean)
		squares += (ys[i] - a*x - b) * (ys[i] - a*x - b)
	}
	n.sd = math.Sqrt(squares / (n.jobs - 2))
	return n
}

// half is the half-width of the prediction interval of a new job at x (Draper
// and Smith, "Applied Regression Analysis", 1998, section 3.1).
func (n noise) half(x float64) float64 {
	if n.jobs < 3 || n.sxx == 0 {
		return math.Inf(1)
	}
	t := distuv.StudentsT{Sigma: 1, Nu: n.jobs - 2}.Quantile((1 + Level) / 2)
	return t * n.sd * math.Sqrt(1+1/n.jobs+(x-n.mean)*(x-n.mean)/n.sxx)
}
