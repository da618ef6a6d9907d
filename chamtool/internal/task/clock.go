package task

// Clock turns ticks of the C side's counter into seconds since the first
// moment it was shown. Its rate is learned from pairs of readings: the longer
// the time between them, the closer.
type Clock struct {
	tick0, ns0     uint64
	secondsPerTick float64
	span           uint64 // ns between the readings the rate stands on
}

// settled is the time after which a measured rate is kept: from then on a change of it would
// only move times that were already reported.
const settledNs = 2_000_000_000

// Show gives the clock one moment as read on both clocks.
func (c *Clock) Show(ticks, ns uint64) {
	switch {
	case c.ns0 == 0:
		c.tick0, c.ns0 = ticks, ns
	case c.span < settledNs && ns > c.ns0 && ticks > c.tick0:
		c.span = ns - c.ns0
		c.secondsPerTick = float64(c.span) / float64(ticks-c.tick0) * 1e-9
	}
}

// Ready reports whether the clock knows its rate.
func (c *Clock) Ready() bool { return c.secondsPerTick > 0 }

// Seconds returns the time of a tick since the first moment shown.
func (c *Clock) Seconds(ticks uint64) float64 {
	return float64(int64(ticks-c.tick0)) * c.secondsPerTick
}

// Between returns the time from one tick to a later one; 0 if it is not later.
func (c *Clock) Between(from, to uint64) float64 {
	if to <= from {
		return 0
	}
	return float64(to-from) * c.secondsPerTick
}
