package estimate

import "math"

// parts finds what a clock's total is made of.
func (m *model) parts(k clock) *parts {
	p := &parts{count: float64(m.job.Epochs) - m.seen}
	rates, laps, groups, blur := m.rates(k)
	p.level = levelOf(groups, blur, m.alone)
	hidden, n := 0.0, float64(len(m.ts))
	if !m.alone {
		for _, t := range m.ts {
			p.lead += (t.setup[k] + t.teardown[k]) / n
			hidden += t.hidden() / n
		}
	}
	p.stages = m.stages(rates, laps, hidden)
	p.count = max(0, p.count-hidden)
	rate := p.rate()
	if m.seen == 0 {
		p.warm = m.warmUp(k, rates)
	}
	p.high = m.high(k, rates)
	if m.course.warm == 1 && m.lapUnits() == 1 && m.seen == 0 {
		p.first = max(0, p.warm)
	}
	for _, t := range m.ts {
		if !m.alone && len(t.laps) > 0 && t.laps[0].from > 0 && len(m.job.Stages) == 0 {
			p.hidden += max(0, t.setup[k]-rate*t.laps[0].from) / n
		}
	}
	to := float64(m.job.Epochs)
	p.costs = append(m.course.namedCosts(m.ts, k, rate, m.begin(), to), toldCosts(m.ts, m.job.Every, k, m.seen, to)...)
	return p
}

// rates are the mean times of a unit in each stage, over the plain laps, and how many laps that is;
// groups the laps' deviations from them, a group for each run that has any, with the
// standard error of the group's mean that the readings leave.
func (m *model) rates(k clock) (rates, laps map[string]float64, groups [][]float64, blur []float64) {
	sums, units := map[string]float64{}, map[string]float64{}
	laps = map[string]float64{}
	visit := m.course.plain
	visit(m.ts, func(_, _ int, l lap) { laps[l.stage]++ })
	if len(laps) == 0 { // every lap stands out: none does
		m.course.forget()
		visit = m.course.steady
		visit(m.ts, func(_, _ int, l lap) { laps[l.stage]++ })
	}
	visit(m.ts, func(_, _ int, l lap) {
		sums[l.stage] += l.seconds[k]
		units[l.stage] += l.units()
	})
	rates = map[string]float64{}
	for stage, s := range sums {
		rates[stage] = s / units[stage]
	}
	byRun := make([][]float64, len(m.ts))
	seconds := make([]float64, len(m.ts))
	visit(m.ts, func(run, _ int, l lap) {
		if rate := rates[l.stage]; rate > 0 {
			byRun[run] = append(byRun[run], l.rate(k)/rate-1)
			seconds[run] += l.seconds[k]
		}
	})
	for run, g := range byRun {
		if len(g) > 0 {
			groups = append(groups, g)
			b := 0.0
			if k != wallTime && seconds[run] > 0 { // wall times are the job's own
				b = m.gap / seconds[run]
			}
			blur = append(blur, b)
		}
	}
	if len(groups) == 0 { // a quantity that is always 0, such as the CPU time of a job that sleeps
		groups, blur = [][]float64{{0}}, []float64{0}
	}
	return rates, laps, groups, blur
}

// forget takes no lap for special.
func (c *course) forget() {
	c.warm, c.outliers, c.patterns = 0, 0, nil
	for i := range c.out {
		c.out[i] = make([]bool, len(c.out[i]))
	}
}

// stages are the units to come, those of which lie in set-up and teardown left out.
func (m *model) stages(rates, laps map[string]float64, hidden float64) []stagePart {
	if len(m.job.Stages) == 0 {
		for stage, rate := range rates { // the one there is
			return []stagePart{{max(0, float64(m.job.Epochs)-m.seen-hidden), rate, laps[stage]}}
		}
		return nil
	}
	var ps []stagePart
	for i, s := range m.job.Stages {
		count := max(0, min(s.To, float64(m.job.Epochs))-max(s.From, m.seen))
		if i == 0 {
			count = max(0, count-hidden)
		}
		ps = append(ps, stagePart{count, rates[s.Name], laps[s.Name]})
	}
	return ps
}

// warmUp is what the laps of the warm-up take more than others.
func (m *model) warmUp(k clock, rates map[string]float64) float64 {
	s := 0.0
	for i := range m.course.warm {
		sum, n := 0.0, 0.0
		for _, t := range m.ts {
			if i < len(t.laps) {
				l := t.laps[i]
				sum += l.seconds[k] - rates[l.stage]*l.units()
				n++
			}
		}
		if n > 0 && m.job.Epochs > i {
			s += sum / n
		}
	}
	return s
}

// high is the mean of what laps that stand out take more than others.
func (m *model) high(k clock, rates map[string]float64) float64 {
	sum, n := 0.0, 0.0
	m.course.steady(m.ts, func(run, i int, l lap) {
		if m.course.out[run][i] {
			sum += l.seconds[k] - rates[l.stage]*l.units()
			n++
		}
	})
	return math.Max(0, sum/math.Max(1, n))
}
