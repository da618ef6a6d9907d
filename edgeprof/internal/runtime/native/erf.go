package native

import (
	"math"
	"sync"
)

// The error function is 1 in single precision from erfEnd on. Below, straight lines between
// erfSteps values a unit are off by 1.2e-7 at most.
const (
	erfEnd   = 4
	erfSteps = 1024
)

// errorTable holds values of the error function. It takes the same time for every value,
// a fifth of that of [math.Erf].
type errorTable [erfEnd*erfSteps + 2]float32

var erfTable = sync.OnceValue(func() *errorTable {
	t := new(errorTable)
	for i := range t {
		t[i] = float32(math.Erf(float64(i) / erfSteps))
	}
	return t
})

// value returns the error function of a value.
func (t *errorTable) value(x float32) float32 {
	if x != x {
		return x
	}
	place := min(max(x, -x), erfEnd) * erfSteps
	i := int(place)
	return float32(math.Copysign(float64(t[i]+(place-float32(i))*(t[i+1]-t[i])), float64(x)))
}

func erf(s site) (kernel, error) { return mapElements(erfTable().value)(s) }
