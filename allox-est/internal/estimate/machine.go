package estimate

import "github.com/foretime/foretime/shared/timing"

// widenForMachine widens the intervals by the change of speed that a machine may show
// after the samples, for the part of the time that is spent computing. The wall time may
// also become that without other work.
func (e *Estimate) widenForMachine(level float64) {
	if !(e.Uncontended.Value > 0) {
		return
	}
	change := timing.SpeedChange(level)
	busy := min(1, e.CPU.Value/e.Uncontended.Value)
	e.CPU = change.Widen(e.CPU)
	e.Uncontended = change.Share(busy).Widen(e.Uncontended)
	e.Wall = change.Share(busy).Widen(e.Wall)
	e.Wall.Low = min(e.Wall.Low, e.Uncontended.Low)
}
