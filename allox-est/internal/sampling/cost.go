package sampling

import "github.com/foretime/foretime/allox-est/internal/progress"

// Cost is the time of a sample as its first marks predict it, in seconds.
type Cost struct {
	Setup  float64 // before the first epoch
	Sample float64 // the whole sample, without its teardown
	Job    float64 // the whole job, likewise
}

// CostOf returns the cost of a sample of so many epochs from its marks so far; false
// before two of them.
func CostOf(marks []progress.Mark, sample, job int) (c Cost, known bool) {
	n := len(marks)
	if n < 2 || marks[n-1].Number <= marks[0].Number {
		return c, false
	}
	unit := (marks[n-1].Seconds - marks[0].Seconds) / (marks[n-1].Number - marks[0].Number)
	c.Setup = max(0, marks[0].Seconds-unit*marks[0].Number)
	c.Sample, c.Job = c.Setup+unit*float64(sample), c.Setup+unit*float64(job)
	return c, c.Job > 0
}
