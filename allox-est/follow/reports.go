package follow

import "time"

// Reports tells from time-writer reports, printed again and again as a job goes
// on, when its epochs ended. Its zero value has seen none.
type Reports struct{ ended int }

// Ended returns when the epochs ended that are new in a report of these laps, in
// seconds, which came at a time since the run began. The job has so many epochs.
func (r *Reports) Ended(at time.Duration, laps []float64, epochs int) []time.Duration {
	var ends []time.Duration
	for k := r.ended + 1; k <= min(epochs, len(laps)-1); k++ {
		later := 0.0
		for _, seconds := range laps[k+1:] {
			later += seconds
		}
		ends = append(ends, max(0, at-time.Duration(later*float64(time.Second))))
		r.ended = k
	}
	return ends
}
