package trial

import (
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/deft/internal/predictor"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Level is that of predicted delays.
const Level = 0.9

// Choice is what the delay predictor makes of a sweep.
type Choice struct {
	Sync       int               `json:"sync"` // the interval of choice
	Any        int               `json:"any"`  // the best of all intervals, [predictor.Interval]; 0 unknown
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
	// Told is TotalMS with its interval, made of how far predictions were off
	// for each interval of the sweep with that one left out.
	Told       uncertainty.Prediction `json:"delay_ms"`
	TotalMS    float64                `json:"total_ms"`
	MeasuredMS *float64               `json:"measured_delay_ms,omitempty"`
	// Of one kind: TotalMS less the models' times alone, and MeasuredMS less
	// their time at the closed gate, which no interval changes.
	OverMS         float64  `json:"delay_ms_over_alone"`
	MeasuredOverMS *float64 `json:"measured_ms_over_alone,omitempty"`
}

// Choose fits the predictor to the sweep and picks one of the candidates; nil
// stands for the intervals of the sweep.
func (s *Sweep) Choose(candidates []int) (*Choice, error) {
	p := &Choice{MeasuredDelayMS: math.Inf(1)}
	own := candidates == nil
	measured := map[int]Point{}
	for _, point := range s.Points {
		measured[point.Sync] = point
		if point.DelayMS < p.MeasuredDelayMS {
			p.MeasuredSync, p.MeasuredDelayMS = point.Sync, point.DelayMS
		}
		if own {
			candidates = append(candidates, point.Sync)
		}
	}
	if len(candidates) == 0 {
		return nil, fmt.Errorf("sweep: %w", ErrIntervals)
	}
	var err error
	if p.Models, err = s.fit(); err != nil {
		return nil, err
	}
	var setup, delay float64
	for _, m := range p.Models {
		setup, delay = setup+m.SyncMS*float64(m.Kernels), delay+m.KernelMS
	}
	p.Any = predictor.Interval(setup, delay)
	off := s.off()
	for i, n := range candidates {
		c, err := s.candidate(p.Models, n)
		if err != nil {
			return nil, err
		}
		c.Told = uncertainty.Prediction{Value: c.TotalMS, Level: Level, Low: max(0, c.TotalMS+off.Low*s.scale(c)), High: c.TotalMS + off.High*s.scale(c)}
		if point, ok := measured[n]; ok {
			over := s.over(point)
			c.MeasuredMS, c.MeasuredOverMS = &point.DelayMS, &over
		}
		p.Candidates = append(p.Candidates, c)
		if i == 0 || c.TotalMS < p.Best.TotalMS {
			p.Best = c
		}
	}
	p.Sync = p.Best.Sync
	if ms := p.Best.MeasuredMS; ms != nil && p.MeasuredDelayMS > 0 {
		regret := *ms/p.MeasuredDelayMS - 1
		p.Regret = &regret
	}
	return p, nil
}

// candidate sums the delays of the models that yield.
func (s *Sweep) candidate(models []predictor.Model, n int) (Candidate, error) {
	c := Candidate{Delay: predictor.Delay{Sync: n}}
	for _, m := range models {
		d, err := m.Predict(n)
		if err != nil {
			return c, err
		}
		c.ExecMS, c.PreemptMS = c.ExecMS+d.ExecMS, c.PreemptMS+d.PreemptMS
	}
	c.TotalMS = c.Delay.TotalMS()
	c.OverMS = c.TotalMS - s.alone()
	return c, nil
}

// off is how far predictions of intervals that were left out of the fit were off,
// in units of [Sweep.scale]: Student's interval of one more (Draper and Smith,
// "Applied Regression Analysis", 1998, section 3.1, over deleted residuals). It is
// open where fewer than three intervals can be left out.
func (s *Sweep) off() uncertainty.Prediction {
	var scores []float64
	for i, point := range s.Points {
		rest := *s
		rest.Points = slices.Delete(slices.Clone(s.Points), i, i+1)
		models, err := rest.fit()
		if err != nil {
			continue // too few are left
		}
		if c, err := s.candidate(models, point.Sync); err == nil {
			scores = append(scores, (s.over(point)-c.OverMS)/s.scale(c))
		}
	}
	p, err := uncertainty.Student(scores, nil, Level)
	if err != nil || len(scores) < 3 {
		return uncertainty.Point(0)
	}
	one := math.Sqrt(float64(len(scores)) + 1) // of one more, over that of the mean
	return uncertainty.Prediction{Low: min(0, p.Value-one*(p.Value-p.Low)), High: max(0, p.Value+one*(p.High-p.Value))}
}

// scale is what errors grow with: what an urgent job meets, which is anything
// between none and all of the queue, and a tenth of the delay over alone.
func (s *Sweep) scale(c Candidate) float64 { return c.PreemptMS + max(c.OverMS, s.alone()/100)/10 }

// over is a measured delay less the yielding models' time at the closed gate.
func (s *Sweep) over(p Point) float64 {
	ms := p.DelayMS
	for _, i := range s.yielding() {
		ms -= p.Models[i].GateMS / float64(max(p.Models[i].Jobs, 1))
	}
	return ms
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
	return yielding(s.Alone, func(m report.Model) int { return m.Priority })
}

// yielding are the places of those that are not of the highest priority; of all
// where there is one.
func yielding[T any](all []T, priority func(T) int) []int {
	lowest, highest := math.MaxInt, math.MinInt
	for _, one := range all {
		lowest, highest = min(lowest, priority(one)), max(highest, priority(one))
	}
	var low []int
	for i, one := range all {
		if lowest == highest || priority(one) < highest {
			low = append(low, i)
		}
	}
	return low
}

// fit is the predictor's models of those that yield. Time at the closed gate is
// the urgent jobs', not the interval's: it is left out.
func (s *Sweep) fit() ([]predictor.Model, error) {
	var models []predictor.Model
	for _, i := range s.yielding() {
		var points []predictor.Point
		for _, p := range s.Points {
			m := p.Models[i]
			if m.Jobs < 1 || m.Launches < m.Jobs {
				return nil, fmt.Errorf("%s: interval %d: %w: %d launches in %d jobs", m.Output, p.Sync, predictor.ErrModel, m.Launches, m.Jobs)
			}
			points = append(points, predictor.Point{
				Sync:     p.Sync,
				JobMS:    m.JCT.Mean - m.GateMS/float64(m.Jobs),
				Kernels:  m.Launches / m.Jobs,
				KernelMS: kernelMS(m, s.Alone[i]),
				Queue:    m.MaxQueue,
			})
		}
		m, err := predictor.FitSweep(points)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Alone[i].Output, err)
		}
		models = append(models, m)
	}
	return models, nil
}

// kernelMS is the mean device time of a kernel: what the device or the hook
// tells, else a job's time alone spread over its kernels.
func kernelMS(m, alone report.Model) float64 {
	if m.GPUMS > 0 {
		return m.GPUMS / float64(m.Launches)
	}
	return alone.JCT.Mean / (float64(m.Launches) / float64(m.Jobs))
}
