package estimate

import "math/rand/v2"

// burn is a simulated job of known times, in seconds, with noise of a relative
// standard deviation and epochs, from 1, that take a factor of their time; draw is
// uniform, for what happens at random.
type burn struct {
	Setup, Epoch, Teardown float64
	Noise                  float64
	Factor                 func(epoch int, draw float64) float64
	Seed                   uint64
}

// segments returns the seconds of the set-up, of each epoch and of the teardown.
func (b burn) segments(epochs int) []float64 {
	rng := rand.New(rand.NewPCG(b.Seed, 0x9e3779b97f4a7c15))
	noisy := func(x float64) float64 { return max(0, x*(1+b.Noise*rng.NormFloat64())) }
	segments := []float64{noisy(b.Setup)}
	for i := 1; i <= epochs; i++ {
		epoch, draw := noisy(b.Epoch), rng.Float64()
		if b.Factor != nil {
			epoch *= b.Factor(i, draw)
		}
		segments = append(segments, epoch)
	}
	return append(segments, noisy(b.Teardown))
}
