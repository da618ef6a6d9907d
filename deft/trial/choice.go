package trial

import (
	"fmt"
	"math"

	"github.com/foretime/foretime/deft/predictor"
	"github.com/foretime/foretime/deft/report"
)

// Choice is what the delay predictor makes of a sweep.
type Choice struct {
	Sync       int               `json:"sync"` // the interval of choice
	Best       Candidate         `json:"best"`
	Candidates []Candidate       `json:"candidates"`
	Models     []predictor.Model `json:"models"` // of the models that yield, in order
	// What was measured: the best interval of the sweep, and by what share the
	// delay of the choice is above its; absent where the choice was not measured.
	MeasuredSync    int      `json:"measured_sync"`
	MeasuredDelayMS float64  `json:"measured_delay_ms"`
	Regret          *float64 `json:"regret,omitempty"`
}

// Candidate is an interval with its predicted delays, summed over the models
// that yield, and the measured one where there is one.
type Candidate struct {
	predictor.Delay
	TotalMS    float64  `json:"total_ms"`
	MeasuredMS *float64 `json:"measured_delay_ms,omitempty"`
	// Of one kind: TotalMS less the models' times alone, and MeasuredMS less
	// their time at the closed gate, which no interval changes.
	OverMS         float64  `json:"delay_ms_over_alone"`
	MeasuredOverMS *float64 `json:"measured_ms_over_alone,omitempty"`
}

// Choose fits the predictor to the sweep and picks one of the candidates; nil
// stands for the intervals of the sweep.
func (s *Sweep) Choose(candidates []int) (*Choice, error) {
	p := &Choice{MeasuredDelayMS: math.Inf(1)}
	measured, gates := map[int]float64{}, map[int]float64{}
	own := candidates == nil
	for _, point := range s.Points {
		measured[point.Sync] = point.DelayMS
		for _, i := range s.yielding() {
			gates[point.Sync] += point.Models[i].GateMS / float64(max(point.Models[i].Jobs, 1))
		}
		if point.DelayMS < p.MeasuredDelayMS {
			p.MeasuredSync, p.MeasuredDelayMS = point.Sync, point.DelayMS
		}
		if own {
			candidates = append(candidates, point.Sync)
		}
	}
	for _, i := range s.yielding() {
		m, err := s.fit(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Alone[i].Output, err)
		}
		p.Models = append(p.Models, m)
	}
	for i, n := range candidates {
		c, err := p.candidate(n)
		if err != nil {
			return nil, err
		}
		c.OverMS = c.TotalMS - s.alone()
		if ms, ok := measured[n]; ok {
			over := ms - gates[n]
			c.MeasuredMS, c.MeasuredOverMS = &ms, &over
		}
		p.Candidates = append(p.Candidates, c)
		if i == 0 || c.TotalMS < p.Best.TotalMS {
			p.Best = c
		}
	}
	if len(candidates) == 0 {
		return nil, fmt.Errorf("sweep: %w", ErrIntervals)
	}
	p.Sync = p.Best.Sync
	if ms := p.Best.MeasuredMS; ms != nil && p.MeasuredDelayMS > 0 {
		regret := *ms/p.MeasuredDelayMS - 1
		p.Regret = &regret
	}
	return p, nil
}

// candidate sums the delays of the models that yield.
func (p *Choice) candidate(n int) (Candidate, error) {
	c := Candidate{Delay: predictor.Delay{Sync: n}}
	for _, m := range p.Models {
		d, err := m.Predict(n)
		if err != nil {
			return c, err
		}
		c.Delay = c.Delay.Plus(d)
	}
	c.TotalMS = c.Delay.TotalMS()
	return c, nil
}

// alone is the sum of the yielding models' times alone.
func (s *Sweep) alone() (ms float64) {
	for _, i := range s.yielding() {
		ms += s.Alone[i].JCT.Mean
	}
	return ms
}

// yielding are the models that the interval is for.
func (s *Sweep) yielding() []int {
	lowest, highest := math.MaxInt, math.MinInt
	for _, m := range s.Alone {
		lowest, highest = min(lowest, m.Priority), max(highest, m.Priority)
	}
	var low []int
	for i, m := range s.Alone {
		if lowest == highest || m.Priority < highest {
			low = append(low, i)
		}
	}
	return low
}

// fit is the predictor's model of one model of the sweep. Time at the closed
// gate is the urgent jobs', not the interval's: it is left out.
func (s *Sweep) fit(i int) (predictor.Model, error) {
	var points []predictor.Point
	for _, p := range s.Points {
		m := p.Models[i]
		if m.Jobs < 1 || m.Launches < m.Jobs {
			return predictor.Model{}, fmt.Errorf("interval %d: %w: %d launches in %d jobs", p.Sync, predictor.ErrModel, m.Launches, m.Jobs)
		}
		points = append(points, predictor.Point{
			Sync:     p.Sync,
			JobMS:    m.JCT.Mean - m.GateMS/float64(m.Jobs),
			Kernels:  m.Launches / m.Jobs,
			KernelMS: kernelMS(m, s.Alone[i]),
			Queue:    m.MaxQueue,
		})
	}
	return predictor.FitSweep(points)
}

// kernelMS is the mean device time of a kernel: what the device or the hook
// tells, else a job's time alone spread over its kernels.
func kernelMS(m, alone report.Model) float64 {
	if m.GPUMS > 0 {
		return m.GPUMS / float64(m.Launches)
	}
	return alone.JCT.Mean / (float64(m.Launches) / float64(m.Jobs))
}
