package simulator

import (
	"slices"
	"time"
)

// Uniform is a job of n equal kernels.
func Uniform(n int, each time.Duration) []time.Duration {
	return slices.Repeat([]time.Duration{each}, n)
}

// MeanJCT is the mean completion time of the measured jobs; 0 where there is none.
func (c *ClientResult) MeanJCT() time.Duration {
	var sum time.Duration
	jobs := c.JobsAfterWarmUp()
	for _, j := range jobs {
		sum += j.JCT()
	}
	return sum / time.Duration(max(1, len(jobs)))
}
