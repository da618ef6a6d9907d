package profiler

import (
	"math"

	"github.com/foretime/foretime/edgeprof/internal/device"
)

// slice is about how long, in seconds, a scheduler lets a task run that has company:
// most inferences that are much shorter are not disturbed, few wait long. It comes from
// inferences of 3 ms next to 8 to 19 tasks on 2 cores (DESIGN.md).
const slice = 10e-3

// slowdown returns the logarithm of the factor of a device's load on an inference of
// some seconds, and its doubt. Each task gets its part of the cores, as far as the
// inference is longer than [slice]. How far such a part is from what one inference
// feels depends on when it comes and on how tasks are weighed: half of its
// logarithm is doubt.
func (c *Calibration) slowdown(d *device.Device, seconds float64) (log, doubt float64) {
	threads := max(1, c.Facts.Threads)
	wanted := d.Load.Competitors(d.Cores) + float64(threads)
	part := math.Log(max(1, wanted/float64(max(1, d.Cores))))
	if threads > 1 { // each kernel waits for its last thread, however short it is
		return part, part * 2 / 3
	}
	return part * (1 - slice/(seconds+slice)), part / 2
}
