package estimate

import (
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/allox-est/journal"
)

// byMarks estimates from the runs that tell how far they came.
func (e *Estimate) byMarks(runs []journal.Run, job Job, s Settings) error {
	var marked []journal.Run
	for _, r := range runs {
		if len(r.Timeline()) > 1 {
			marked = append(marked, r)
		}
	}
	if len(marked) == 0 {
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: a line over %d whole runs", ErrUntold, len(runs)))
		return e.line(runs, job, s)
	}
	if n := len(runs) - len(marked); n > 0 {
		e.Warnings = append(e.Warnings, fmt.Errorf("%w: %d of %d runs left out", ErrUntold, n, len(runs)))
	}
	ts, evidence := traced(marked, job)
	if err := job.checkStages(ts); err != nil {
		return err
	}
	k := settle(ts, marked, evidence && job.Device == "cpu")
	c := look(ts, job.Every)
	m := &model{ts: ts, course: &c, job: job, evidence: evidence, gap: gap(marked), level: s.Level}
	e.CPU, _ = m.predict(cpuTime, nil)
	e.Uncontended, _ = m.predict(quietTime, nil)
	wall, p := m.predict(wallTime, k.disturb)
	if f := k.crowded(job.Device); f > 0 {
		wall.High = max(wall.High, f*e.Uncontended.Value)
	}
	wall.Low = max(wall.Low, min(e.Uncontended.Low, wall.Value)) // no contention is the least
	e.Wall, e.Method = wall, string(Auto)
	if c.period() > 0 {
		e.Method = "auto/periodic"
	}
	e.describe(m, p)
	first, rest := costWarnings(p.costs, job.unit())
	e.Warnings = append(append(slices.Insert(e.Warnings, 0, first...), k.warnings(job)...), append(rest, c.warnings(job.unit())...)...)
	return nil
}

// disturb adds to a total what other work may do: as much as it did for a while,
// with the odds that it comes back, and half the share of lasting wait as a standard
// deviation (whole runs on a busy machine differed by about that, DESIGN.md).
func (k contention) disturb(total float64, p *parts, rng *random) float64 {
	if k.slowed > 0 && rng.Float64() < comesBack {
		total += k.again(rng) * p.count
	}
	if k.lasting >= 0.02 {
		total *= math.Exp(k.lasting / 2 * rng.NormFloat64())
	}
	return total
}

// describe tells the parts of the wall time.
func (e *Estimate) describe(m *model, p *parts) {
	s := &Segments{WarmUp: int(float64(m.course.warm) * m.lapUnits()), Period: m.course.period()}
	for _, t := range m.ts {
		s.Setup += t.setup[wallTime] / float64(len(m.ts))
		s.Teardown += t.teardown[wallTime] / float64(len(m.ts))
	}
	if p.count > 0 {
		costs := 0.0
		for _, c := range p.costs {
			if len(c.spent) > 0 {
				costs += c.times * mean(c.spent)
			}
		}
		s.Epoch = (m.expected(p) - costs) / p.count
	}
	for _, c := range p.costs {
		one := Cost{Name: c.name, Every: c.period}
		if len(c.spent) > 0 {
			x := mean(c.spent)
			one.Seconds = &x
		}
		s.Costs = append(s.Costs, one)
	}
	e.Segments = s
}
