package estimate

import (
	"math"
)

// parts splits a total of one clock, in seconds.
type parts struct {
	once   float64 // set-up, teardown and the warm-up's excess
	units  float64 // the units to come, at the mean rate of their stage
	count  float64 // the number of units to come
	first  float64 // excess of a first unit
	hidden float64 // set-up time beyond the units in it, which may contain a first unit's cost
	level  level
}

// rate sums the time and the units of a stage's plain laps.
type rate struct{ seconds, units float64 }

func (r rate) mean() float64 {
	if r.units <= 0 {
		return 0
	}
	return r.seconds / r.units
}

// parts splits a clock's total, and sets the times of the cost by that clock.
func (m *model) parts(k clock) *parts {
	p := &parts{}
	rates := m.rates(k)
	p.level = m.levelOf(k, rates)
	hidden, n := 0.0, float64(len(m.ts))
	for _, t := range m.ts {
		if m.alone {
			break
		}
		p.once += (t.setup[k] + t.teardown[k]) / n
		hidden += t.hidden() / n
		if len(t.laps) > 0 && t.laps[0].from > 0 && m.job.Stages == nil {
			p.hidden += max(0, t.setup[k]-rates[""].mean()*t.laps[0].from) / n
		}
	}
	m.units(p, rates, hidden)
	if m.seen == 0 {
		warm := m.warmUp(k, rates)
		p.once += warm
		if m.course.warm == 1 && m.lap == 1 {
			p.first = max(0, warm)
		}
	}
	m.spend(k, rates)
	return p
}

// rates returns the rate of each stage; a job without stages has one.
func (m *model) rates(k clock) map[string]rate {
	rates := map[string]rate{}
	m.course.plain(m.ts, func(_, _ int, l lap) {
		r := rates[l.stage]
		rates[l.stage] = rate{r.seconds + l.seconds[k], r.units + l.units()}
	})
	return rates
}

// readingSD is the standard error, in seconds, of processor time and wait between the two ends
// of a run's laps. They are read every 20 ms and interpolated, so each end has a uniform error
// with a variance of 0.02²/12, and both together 0.02²/6.
var readingSD = 0.020 / math.Sqrt(6)

// levelOf computes the level's posterior from the plain laps' deviations from their
// stage's rate. Processor times have the error of their readings; wall times are the
// job's own and have none.
func (m *model) levelOf(k clock, rates map[string]rate) level {
	byRun, seconds := make([][]float64, len(m.ts)), make([]float64, len(m.ts))
	m.course.plain(m.ts, func(run, _ int, l lap) {
		if r := rates[l.stage].mean(); r > 0 {
			byRun[run] = append(byRun[run], l.rate(k)/r-1)
			seconds[run] += l.seconds[k]
		}
	})
	var groups [][]float64
	var blur []float64
	for run, g := range byRun {
		if len(g) > 0 {
			groups, blur = append(groups, g), append(blur, 0)
			if k != wallTime && m.ts[run].read && seconds[run] > 0 {
				blur[len(blur)-1] = readingSD / seconds[run]
			}
		}
	}
	if groups == nil { // the clock is always 0, such as the CPU time of a job that sleeps
		groups, blur = [][]float64{{0}}, []float64{0}
	}
	return levelOf(groups, blur, m.alone)
}

// units adds up the units to come, without those within set-up and teardown.
func (m *model) units(p *parts, rates map[string]rate, hidden float64) {
	if m.job.Stages == nil {
		p.count = max(0, m.to()-m.seen-hidden)
		p.units = p.count * rates[""].mean()
		return
	}
	for i, s := range m.job.Stages {
		count := max(0, min(s.To, m.to())-max(s.From, m.seen))
		if i == 0 {
			count = max(0, count-hidden)
		}
		p.count, p.units = p.count+count, p.units+count*rates[s.Name].mean()
	}
}

// warmUp returns the excess of the warm-up's laps over the rate of their stage.
func (m *model) warmUp(k clock, rates map[string]rate) float64 {
	s := 0.0
	for i := range min(m.course.warm, m.job.Epochs) {
		sum, n := 0.0, 0.0
		for _, t := range m.ts {
			if i < len(t.laps) && !t.settled {
				sum += t.laps[i].seconds[k] - rates[t.laps[i].stage].mean()*t.laps[i].units()
				n++
			}
		}
		s += sum / max(1, n)
	}
	return s
}

// spend sets the times of the cost: the part of a lap above its stage's rate.
func (m *model) spend(k clock, rates map[string]rate) {
	spent := &m.course.cost.spent[k]
	*spent = nil
	m.course.steady(m.ts, func(run, at int, l lap) {
		if m.course.out[run][at] {
			*spent = append(*spent, max(0, l.seconds[k]-rates[l.stage].mean()*l.units()))
		}
	})
}
