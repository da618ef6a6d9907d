package summary

import "math"

// A bin of the histogram contains the floating-point numbers that share their
// exponent and the highest binBits bits of their fraction: it spans at most
// four tenths of a percent, and finding it takes no logarithm.
const (
	binBits  = 8
	binShift = 52 - binBits
	binsLow  = (1023 - 20) << binBits // ratios below 2^-20 are one bin
	binsHigh = (1023 + 15) << binBits // and those above 2^15 another
)

// Errors sums up the errors of predictions, in seconds. The zero value is ready.
type Errors struct {
	n                  int
	absolute, relative float64
	squared            float64
	first              float64 // the first actual time; the next two are sums of distances from it
	sum, sumSquares    float64
	histogram          []uint32
	bounded, inside    int // runs with an interval; those of them inside it
}

// Add adds a prediction and the actual time. Times that are not finite or not above zero are left
// out: ok is false.
func (e *Errors) Add(predicted, actual float64) (ok bool) {
	if !(predicted > 0) || !(actual > 0) || math.IsInf(actual, 0) || math.IsInf(predicted, 0) {
		return false
	}
	e.n++
	miss := math.Abs(predicted - actual)
	relative := miss / actual
	e.absolute += miss
	e.relative += relative
	e.squared += miss * miss
	if e.histogram == nil {
		e.first = actual
		e.histogram = make([]uint32, binsHigh-binsLow)
	}
	d := actual - e.first
	e.sum += d
	e.sumSquares += d * d
	bin := int(math.Float64bits(relative) >> binShift)
	e.histogram[max(0, min(bin, binsHigh-1)-binsLow)]++
	return true
}

// AddInterval adds an interval and the actual time. An interval without an end is left out.
func (e *Errors) AddInterval(low, high, actual float64) {
	if math.IsNaN(low) || math.IsNaN(high) || math.IsInf(high, 1) {
		return
	}
	e.bounded++
	if low <= actual && actual <= high {
		e.inside++
	}
}

// Coverage returns the fraction of the intervals that contain the actual time, NaN without any.
func (e *Errors) Coverage() float64 { return float64(e.inside) / float64(e.bounded) }

// WAPE returns the sum of the errors over the sum of the actual times in percent, NaN without any.
func (e *Errors) WAPE() float64 { return 100 * e.absolute / (e.sum + float64(e.n)*e.first) }

// Count returns the number of added predictions.
func (e *Errors) Count() int { return e.n }

// MAE returns the mean of |predicted - actual| in seconds, NaN without any.
func (e *Errors) MAE() float64 { return e.absolute / float64(e.n) }

// MAPE returns the mean of |predicted - actual| / actual in percent, NaN without any.
func (e *Errors) MAPE() float64 { return 100 * e.relative / float64(e.n) }

// MedianAPE returns the median of |predicted - actual| / actual in percent, to the middle of its
// bin; NaN without any.
func (e *Errors) MedianAPE() float64 {
	if e.n == 0 {
		return math.NaN()
	}
	below := 0
	for i, n := range e.histogram {
		if below += int(n); 2*below >= e.n {
			if i == 0 {
				return 0
			}
			return 100 * math.Float64frombits(uint64(2*(binsLow+i)+1)<<(binShift-1)) // its middle
		}
	}
	return math.NaN()
}

// R2 returns the coefficient of determination, NaN if all actual times are equal.
func (e *Errors) R2() float64 {
	spread := e.sumSquares - e.sum*e.sum/float64(e.n)
	if !(spread > 0) {
		return math.NaN()
	}
	return 1 - e.squared/spread
}
