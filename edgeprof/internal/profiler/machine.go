package profiler

import "github.com/foretime/foretime/shared/timing"

// ForThisMachine returns a calibration whose predictions allow for a change of its
// machine's speed since it was measured, and for an end of other work.
func (c *Calibration) ForThisMachine() *Calibration {
	here := *c
	here.present = true
	return &here
}

// widenForMachine widens a prediction for this machine.
func (c *Calibration) widenForMachine(p *Prediction) {
	if !c.present {
		return
	}
	change := timing.SpeedChange(p.Seconds.Level)
	p.Seconds = change.Widen(p.Seconds)
	p.Seconds.Low = min(p.Seconds.Low, change.Low*p.Idle)
}
