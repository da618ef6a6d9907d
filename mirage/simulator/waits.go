package simulator

// waitsKept is how many waits of the latest started jobs are remembered.
const waitsKept = 512

// waits remembers how long the latest started jobs had waited.
type waits struct {
	last  [waitsKept]float32 // seconds
	count int                // all ever
}

func (w *waits) add(seconds float64) {
	w.last[w.count%waitsKept] = float32(seconds)
	w.count++
}

// LastWaits returns the waits, in seconds, of the latest n started jobs of the
// workload, newest first: fewer than n where not so many have started, at most
// 512. Jobs submitted from outside do not count.
func (s *Simulator) LastWaits(n int) []float64 {
	n = min(n, s.waits.count, waitsKept)
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(s.waits.last[(s.waits.count-1-i)%waitsKept])
	}
	return out
}

// MeanLastWait is the mean of LastWaits in seconds, 0 where no job has started.
func (s *Simulator) MeanLastWait(n int) float64 {
	w := s.LastWaits(n)
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	return sum / float64(max(len(w), 1))
}
