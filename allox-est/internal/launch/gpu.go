package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Evidence describes what was seen of a run's processes and a GPU.
type Evidence int

// The evidence, each more than the one before.
const (
	NoGPU   Evidence = iota // no process had one open
	GPUOpen                 // a process had a GPU open
	GPUUsed                 // and nvidia-smi shows its memory, or the GPU busy
)

// GPUDevices are the device files of which a process that computes on a GPU has
// one open.
var GPUDevices = []string{"/dev/nvidia[0-9]*", "/dev/kfd", "/dev/dri/renderD*", "/dev/dxg"}

// gpuWatch looks for a GPU in the hands of a run's processes, until nothing is
// left to find.
type gpuWatch struct {
	smi     *smi
	devices []string // patterns
	found   Evidence
	next    time.Duration
}

// gpuEvery is the time between two looks: a look reads every process's open
// files.
const gpuEvery = 200 * time.Millisecond

// observe takes in the processes at a time of the run.
func (w *gpuWatch) observe(at time.Duration, pids []int) {
	if w.found >= GPUOpen || at < w.next {
		return
	}
	w.next = at + gpuEvery
	for _, pid := range pids {
		if w.opens(fmt.Sprintf("/proc/%d", pid)) {
			w.found = GPUOpen
			return
		}
	}
}

// record writes the findings to a result.
func (w *gpuWatch) record(res *Result) {
	if w.found == GPUOpen && w.smi.shows() {
		w.found = GPUUsed
	}
	res.GPU, res.GPUWatched = w.found, w.smi.cmd != nil
}

func (w *gpuWatch) opens(dir string) bool {
	files, _ := os.ReadDir(filepath.Join(dir, "fd")) // none of a process that has gone
	for _, f := range files {
		target, err := os.Readlink(filepath.Join(dir, "fd", f.Name()))
		if err != nil {
			continue
		}
		for _, pattern := range w.devices {
			if ok, _ := filepath.Match(pattern, target); ok {
				return true
			}
		}
	}
	return false
}
