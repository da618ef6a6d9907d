package estimate

// model predicts the clocks of a job.
type model struct {
	ts     []trace
	course *course
	job    Job
	seen   float64 // units done by the one run whose rest is asked for
	alone  bool    // it is the predicted run
	level  float64 // of the interval

	lap, longest float64 // units of the longest lap and run
}

func newModel(m model) *model {
	m.lap, m.longest = 1e-9, 1
	for _, t := range m.ts {
		m.longest = max(m.longest, t.length)
	}
	for l := range allLaps(m.ts) {
		m.lap = max(m.lap, l.units())
	}
	return &m
}

// from and to are the first and the last unit asked for, the warm-up left out.
func (m *model) from() float64 { return min(m.to(), max(m.seen, float64(m.course.warm))) }
func (m *model) to() float64   { return float64(m.job.Epochs) }
