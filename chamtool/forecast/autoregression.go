package forecast

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	// priorShare is how much the fit is drawn to "as one period ago", as a
	// share of the lags' own spread.
	priorShare = 0.0005
	// rounds of reweighting; the weights settle long before.
	rounds = 30
)

// fitAR fits log load = at + Σ b·log of the lag to least absolute errors. b
// stays nil where there are too few rows or the result would grow without
// bound.
func (m *Model) fitAR(logs []float64) {
	n := len(logs) - m.order
	if n < m.order+3 {
		return
	}
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 1
	}
	var at float64
	var b []float64
	for range rounds {
		if at, b = m.solve(logs, weights); b == nil {
			return
		}
		scale := 0.0
		for i := range weights {
			weights[i] = math.Abs(m.miss(logs, b, i) - at)
			scale += weights[i] / float64(n)
		}
		for i, r := range weights {
			weights[i] = 1 / math.Max(r, 0.02*scale+1e-9)
		}
	}
	if stable(b) {
		m.at, m.b = at, b
	}
}

// miss is the target of row i, logs[order+i], without its lags' part.
func (m *Model) miss(logs, b []float64, i int) float64 {
	at := m.order + i
	r := logs[at]
	for j, c := range b {
		r -= c * logs[at-1-j]
	}
	return r
}

// solve is one weighted ridge regression towards the seasonal prior, with an
// intercept that is free.
func (m *Model) solve(logs, weights []float64) (at float64, b []float64) {
	p := m.order
	prior := make([]float64, p)
	if m.Period <= p {
		prior[m.Period-1] = 1
	}
	sum, restMean, means := 0.0, 0.0, make([]float64, p)
	for i, w := range weights {
		sum += w
		restMean += w * m.miss(logs, prior, i)
		for j := range p {
			means[j] += w * logs[p+i-1-j]
		}
	}
	restMean /= sum
	for j := range means {
		means[j] /= sum
	}
	gram, right := mat.NewSymDense(p, nil), mat.NewVecDense(p, nil)
	for i, w := range weights {
		rest := m.miss(logs, prior, i) - restMean
		for j := range p {
			xj := logs[p+i-1-j] - means[j]
			right.SetVec(j, right.AtVec(j)+w*xj*rest)
			for k := range j + 1 {
				gram.SetSym(j, k, gram.At(j, k)+w*xj*(logs[p+i-1-k]-means[k]))
			}
		}
	}
	trace := mat.Trace(gram)
	for j := range p {
		gram.SetSym(j, j, gram.At(j, j)+priorShare*trace/float64(p)+1e-12)
	}
	var chol mat.Cholesky
	var move mat.VecDense
	if !chol.Factorize(gram) || chol.SolveVecTo(&move, right) != nil {
		return 0, nil
	}
	at, b = restMean, make([]float64, p)
	for j := range b {
		b[j] = prior[j] + move.AtVec(j)
		at -= move.AtVec(j) * means[j]
	}
	return at, b
}

// stable reports whether a kick dies away, or at least does not grow: the
// response to one after many steps is no larger than itself.
func stable(b []float64) bool {
	response := make([]float64, 0, 400)
	response = append(response, 1)
	for len(response) < 400 {
		y := 0.0
		for j, c := range b {
			if at := len(response) - 1 - j; at >= 0 {
				y += c * response[at]
			}
		}
		if math.IsNaN(y) || math.Abs(y) > 10 {
			return false
		}
		response = append(response, y)
	}
	for _, y := range response[len(response)-2*len(b):] {
		if math.Abs(y) > 1.05 {
			return false
		}
	}
	return true
}
