package trace

import (
	"fmt"
	"math"
)

// ScaleLoad returns copies of the jobs with their submissions brought closer together by a
// factor above 0; a factor below 1 spreads them. The first submission, waits and durations
// stay: only the amount of work per day changes.
func ScaleLoad(jobs []Job, factor float64) ([]Job, error) {
	if !(factor > 0.001 && factor < 1000) {
		return nil, fmt.Errorf("load factor %v: want a number between 0.001 and 1000", factor)
	}
	scaled := append([]Job(nil), jobs...)
	for i := range scaled {
		j := &scaled[i]
		wait, duration := j.Wait(), j.Duration()
		j.Submit = jobs[0].Submit + int64(math.Round(float64(j.Submit-jobs[0].Submit)/factor))
		j.Start = j.Submit + wait
		j.End = j.Start + duration
	}
	return scaled, nil
}
