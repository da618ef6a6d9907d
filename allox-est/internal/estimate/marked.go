package estimate

import (
	"fmt"
	"math"

	"github.com/foretime/foretime/allox-est/internal/journal"
)

// byMarks estimates from the runs with marks.
func (e *Estimate) byMarks(runs []journal.Run, job Job, s Settings) error {
	var marked []journal.Run
	var ts []trace
	evidence := true // processor time was measured lap by lap
	for _, r := range runs {
		if len(r.Timeline()) > 1 {
			marked, ts = append(marked, r), append(ts, newTrace(r, job))
			evidence = evidence && len(r.LapCPU) > 0
		}
	}
	if len(marked) == 0 {
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: a line over %d whole runs", ErrUntold, len(runs)))
		return e.line(runs, job, s)
	}
	if n := len(runs) - len(marked); n > 0 {
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: %d of %d runs left out", ErrUntold, n, len(runs)))
	}
	if err := job.checkStages(ts); err != nil {
		return err
	}
	k := contentionOf(ts, marked, evidence && job.Device == "cpu")
	c := findCourse(ts, job)
	c.cost.foreign = !evidence && c.cost.period() == 0
	m := newModel(model{ts: ts, course: &c, job: job, level: s.Level})
	e.CPU, _, _ = m.predict(cpuTime, nil)
	e.Uncontended, _, _ = m.predict(quietTime, nil)
	wall, p, totals := m.predict(wallTime, k.disturb)
	wall.High = max(wall.High, k.crowdedSlowdown(job.Device)*e.Uncontended.Value)
	wall.Low = max(wall.Low, min(e.Uncontended.Low, wall.Value)) // no contention is the least
	e.Wall = wall
	e.Method = string(Auto)
	e.totals = totals
	e.Warnings = append(e.Warnings, k.warnings(job)...)
	if len(c.cost.spent[wallTime]) > 0 {
		e.Warnings = append(e.Warnings, c.cost.warning(job.unit()))
	}
	if slope, _ := c.findTrend(ts); slope != 0 {
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: %+.2g %% per %s; the interval assumes that the trend ends", ErrTrend, 100*slope, job.unit()))
	}
	e.describe(m, p)
	return nil
}

// disturb adds to a total what other work may do: as much as it did for a while,
// with the odds that it comes back, and half the share of lasting wait as a standard
// deviation (whole runs on a busy machine differed by about that, DESIGN.md).
func (k contention) disturb(total float64, p *parts, rng *random) float64 {
	if k.slowed > 0 && rng.Float64() < comesBack {
		total += k.recurrence(rng) * p.count
	}
	if k.lasting >= 0.02 {
		total *= math.Exp(k.lasting / 2 * rng.NormFloat64())
	}
	return total
}

// describe fills in the parts of the wall time.
func (e *Estimate) describe(m *model, p *parts) {
	s := &Segments{WarmUp: int(float64(m.course.warm) * m.lap), Period: m.course.cost.period()}
	for _, t := range m.ts {
		s.Setup += t.setup[wallTime] / float64(len(m.ts))
		s.Teardown += t.teardown[wallTime] / float64(len(m.ts))
	}
	s.Epoch = (p.units*(1+p.level.mean) + m.course.cost.mean(wallTime, m.from(), m.to(), m.lap)) / max(1, p.count)
	e.Segments = s
}
