package experiment

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/foretime/foretime/deft/internal/pair"
)

// loadTraces gives each model that names a trace the kernels of its recorded job. Paths are
// relative to the directory of the experiment's file.
func (x *Experiment) loadTraces(file string) error {
	for i := range x.Models {
		m := &x.Models[i]
		if m.Trace == "" {
			continue
		}
		if !filepath.IsAbs(m.Trace) {
			m.Trace = filepath.Join(filepath.Dir(file), m.Trace)
		}
		t, err := pair.LoadTrace(m.Trace)
		if err != nil {
			return fmt.Errorf("%s: models[%d].trace: %w", file, i, err)
		}
		job, whole := recordedJob(t.Launches)
		if len(job) > maxKernels {
			return fmt.Errorf("%s: models[%d].trace: %s: more than %d launches in a job", file, i, m.Trace, maxKernels)
		}
		if whole {
			x.Warnings = append(x.Warnings, fmt.Errorf("%s: models[%d].trace: the program waits less than twice in %s: one job is the whole recording, %d launches", file, i, m.Trace, len(job)))
		}
		m.setJob(job)
	}
	return nil
}

// recordedJob returns the launches of a program's typical job: those between two of its
// waits, of the median device time. The first and the last stretch of a recording may be
// cut. If no stretch is whole, the whole recording is one job.
func recordedJob(launches []pair.Launch) (job []pair.Launch, whole bool) {
	var starts []int
	for i, l := range launches {
		if l.Wait {
			starts = append(starts, i)
		}
	}
	if len(starts) < 2 {
		return launches, true
	}
	var stretches [][]pair.Launch
	for k := 1; k < len(starts); k++ {
		stretches = append(stretches, launches[starts[k-1]:starts[k]])
	}
	slices.SortStableFunc(stretches, func(a, b []pair.Launch) int { return cmp.Compare(deviceTime(a), deviceTime(b)) })
	return stretches[(len(stretches)-1)/2], false
}

func deviceTime(launches []pair.Launch) (sum time.Duration) {
	for _, l := range launches {
		sum += l.Time
	}
	return sum
}

// setJob makes launches the model's job. The host's time before the first is a pause
// between jobs, and the mean before the others that of a launch, unless the file gives
// it. A graph counts as one kernel.
func (m *Model) setJob(launches []pair.Launch) {
	m.Kernels, m.KernelTimes = len(launches), nil
	var gaps time.Duration
	for i, l := range launches {
		m.KernelTimes = append(m.KernelTimes, l.Time)
		if i > 0 {
			gaps += l.Gap
		}
	}
	if launches[0].Wait {
		m.TracePause = launches[0].Gap
	}
	if m.LaunchCost == 0 && len(launches) > 1 {
		m.LaunchCost = max(gaps/time.Duration(len(launches)-1), 1)
	}
}
