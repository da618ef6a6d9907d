package profiler

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/foretime/foretime/shared/timing"
)

// ErrMachine warns that the machine's speed may be another than when it was
// measured.
var ErrMachine = errors.New("this machine's speed may have changed since its calibration")

// machine holds the readings of the calibrated machine's speed.
type machine struct {
	readings []timing.Reading
	age      time.Duration // of the calibration
}

// On returns a calibration whose predictions allow for what the speed of its
// machine may have done since it was measured, that long ago, and for other work
// that may start or end. Readings are those of the machine's speed, in any order.
func (c *Calibration) On(readings []timing.Reading, age time.Duration) *Calibration {
	with := *c
	with.machine = &machine{readings, max(0, age)}
	return &with
}

// worthSaying is the factor from which on a change of speed is a warning.
const worthSaying = 1.1

// widen lets a prediction allow for changes of the machine's speed.
func (c *Calibration) widen(p *Prediction) {
	if c.machine == nil {
		return
	}
	o := timing.NewOutlook(c.machine.readings, timing.Sampled{Horizon: c.machine.age, Crowd: p.Slowdown, Level: p.Seconds.Level})
	wall := felt(o, p.Idle)
	p.Seconds = wall.Widen(p.Seconds)
	if wall.High > worthSaying || wall.Low < 1/worthSaying {
		p.Warnings = append(p.Warnings, fmt.Errorf("%w: %s; for this reason alone an inference may take %.2f to %.2f times as long", ErrMachine, o.Reason, wall.Low, wall.High))
	}
}

// felt returns the change of an inference's wall time: the whole change of processor time, and
// the part that it experiences of the wait for other work, as in [Calibration.slowdown].
func felt(o timing.Outlook, seconds float64) timing.Change {
	part := 1 - slice/(seconds+slice)
	return timing.Change{
		Low:  o.CPU.Low * math.Pow(min(1, o.Wall.Low/o.CPU.Low), part),
		High: o.CPU.High * math.Pow(max(1, o.Wall.High/o.CPU.High), part),
	}
}
