package estimate

import (
	"math"
	"math/rand/v2"
)

// random is the source of draws, the same for every estimate: the same runs give the same
// bytes.
type random struct{ *rand.Rand }

func newRandom() *random { return &random{rand.New(rand.NewPCG(95, 5))} }

// student draws from Student's t of 4 degrees of freedom: a normal over the root of
// a chi-squared that two exponentials make.
func (r *random) student() float64 {
	return r.NormFloat64() / math.Sqrt((r.ExpFloat64()+r.ExpFloat64())/2)
}
