package perfmodel

import "math"

// maxMoments is the most variables of moments: six features and the target.
const maxMoments = maxFeatures + 1

// moments are the weighted means and co-moments of a stream of vectors whose
// last element is the target: all that least squares needs, in memory that
// does not grow. The update is Welford's, extended to weights and pairs
// (Pébay, "Formulas for Robust, One-Pass Parallel Computation of Covariances
// and Arbitrary-Order Statistical Moments", Sandia SAND2008-6212).
type moments struct {
	n      int
	weight float64
	mean   [maxMoments]float64
	co     [maxMoments][maxMoments]float64 // lower triangle
}

func (m *moments) add(x []float64, y, weight float64) {
	p := len(x)
	m.n++
	m.weight += weight
	share := weight / m.weight
	var before [maxMoments]float64
	for i := range p + 1 {
		v := y
		if i < p {
			v = x[i]
		}
		before[i] = v - m.mean[i]
		m.mean[i] += before[i] * share
		after := v - m.mean[i]
		for j := range i + 1 {
			m.co[i][j] += weight * after * before[j]
		}
	}
}

// solve fits target = mean + Σ b·(x - mean) with a ridge of the given share of
// each feature's own spread. Features whose standard deviation is below
// minDeviation get no coefficient. ok is false where nothing is left to fit.
func (m *moments) solve(p int, share, minDeviation float64) (b [maxFeatures]float64, ok bool) {
	var used [maxFeatures]int
	k := 0
	for i := range p {
		if m.weight > 0 && m.co[i][i] > minDeviation*minDeviation*m.weight && m.co[i][i] > 0 {
			used[k] = i
			k++
		}
	}
	if k == 0 {
		return b, false
	}
	var a [maxFeatures][maxFeatures]float64 // Cholesky factor of the correlation matrix
	var z [maxFeatures]float64
	scale := func(i int) float64 { return math.Sqrt(m.co[used[i]][used[i]]) }
	for i := range k {
		z[i] = m.co[p][used[i]] / scale(i)
		for j := range i + 1 {
			v := m.co[used[i]][used[j]] / (scale(i) * scale(j))
			if i == j {
				v += share
			}
			for q := range j {
				v -= a[i][q] * a[j][q]
			}
			if i != j {
				a[i][j] = v / a[j][j]
				continue
			}
			if !(v > 1e-12) {
				return b, false
			}
			a[i][i] = math.Sqrt(v)
		}
	}
	for i := range k {
		for q := range i {
			z[i] -= a[i][q] * z[q]
		}
		z[i] /= a[i][i]
	}
	for i := k - 1; i >= 0; i-- {
		for q := i + 1; q < k; q++ {
			z[i] -= a[q][i] * z[q]
		}
		z[i] /= a[i][i]
	}
	for i := range k {
		b[used[i]] = z[i] / scale(i)
		if math.IsNaN(b[used[i]]) || math.IsInf(b[used[i]], 0) {
			return [maxFeatures]float64{}, false
		}
	}
	return b, true
}
