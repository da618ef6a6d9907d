package estimate

import "github.com/foretime/foretime/shared/timing"

// widenForMachine widens the intervals by the change of the machine's mean speed from the
// samples to the job, for the part of the time that is spent computing. The wall time may
// also become that without other work.
func (e *Estimate) widenForMachine(level float64) {
	if !(e.Uncontended.Value > 0) {
		return
	}
	change := timing.MeanSpeedChange(level, e.Seconds, e.Uncontended.Value)
	busy := min(1, e.CPU.Value/e.Uncontended.Value)
	e.CPU = change.Widen(e.CPU)
	e.Uncontended = change.Share(busy).Widen(e.Uncontended)
	e.Wall = change.Share(busy).Widen(e.Wall)
	e.Wall.Low = min(e.Wall.Low, e.Uncontended.Low)
}
