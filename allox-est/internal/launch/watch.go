package launch

import (
	"time"

	"github.com/foretime/foretime/shared/timing"
)

// watch reads a run's processes from time to time and adds the readings to its result.
type watch struct {
	res      *Result
	interval time.Duration
	meter    timing.Meter
	gpu      *gpuWatch     // nil where no GPU is watched
	kept     time.Duration // when the last reading was kept
}

func newWatch(res *Result, c Command, smi *smi, s Settings) *watch {
	w := &watch{res: res, interval: s.Interval}
	if c.GPU {
		w.gpu = &gpuWatch{smi: smi, devices: s.GPUDevices}
	}
	return w
}

// look reads the trees of processes.
func (w *watch) look(heads []int) {
	before := time.Since(w.res.Start)
	u := w.meter.Read(heads...)
	after := time.Since(w.res.Start)
	at := (before + after) / 2
	// The time of a reading that was itself interrupted is uncertain.
	if after-before <= w.interval || at-w.kept > 10*w.interval {
		w.res.read(at, u)
		w.kept = at
	}
	w.res.out.notify()
	if w.gpu != nil {
		w.gpu.observe(at, w.meter.Processes.Tree(heads...))
	}
}

// end adds what was seen of a GPU.
func (w *watch) end() {
	if w.gpu != nil {
		w.gpu.record(w.res)
	}
}
