package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrNotAlone is returned for a program that is not in a run, or whose device time the run does
// not contain.
var ErrNotAlone = errors.New("no solo run")

// How far predictions from means are off, either way: nine times in ten of 200
// drawn pairs on the simulated device, whose kernels take exponentially
// distributed times; and at most of the published outcomes of a GV100, which
// orders kernels in its own way.
const (
	unevenKernels = 0.03
	orderError    = 0.13
)

const (
	// rounds is the number of jobs of the slower program that are simulated next to the other
	// program.
	rounds = 100
	// mostKernels is more launches than a job may have, as in an experiment's file.
	mostKernels = 1_000_000
)

// Beside predicts the speeds of two programs next to each other, as shares of their speeds
// alone, from their solo runs: jobs, launches, device time and pauses, with equal kernels. Both
// are simulated on the virtual clock: first come, first served if they ran on a simulated
// device, else in time slices.
func Beside(ctx context.Context, alone *report.Run, a, b string) (speeds [2]uncertainty.Prediction, err error) {
	x := &experiment.Experiment{Policy: "none", MinJobs: 1, Jitter: 0.05}
	off := unevenKernels
	if alone.Device != "sim" {
		x.Device.Discipline, off = device.Turns, orderError
	}
	for _, name := range []string{a, b} {
		m, err := soloModel(alone, name)
		if err != nil {
			return speeds, err
		}
		x.Models = append(x.Models, m)
		x.Duration = max(x.Duration, rounds*(m.SleepTime+m.LaunchCost+time.Duration(m.Kernels)*max(m.KernelTimes[0], m.LaunchCost)))
	}
	by, err := Alone(ctx, x, Virtual)
	if err != nil {
		return speeds, err
	}
	both, err := Virtual(ctx, x)
	if err != nil {
		return speeds, err
	}
	for k := range speeds {
		v := both.Run.Models[k].Throughput / by.Models[k].Throughput
		speeds[k] = uncertainty.Prediction{Value: v, Low: max(0, v-off), High: v + off, Level: Level}
	}
	return speeds, nil
}

// soloModel is a program as the run that it had alone shows it.
func soloModel(alone *report.Run, name string) (experiment.Model, error) {
	i := slices.IndexFunc(alone.Models, func(m report.Model) bool { return m.Output == name || m.Name == name })
	if i < 0 {
		return experiment.Model{}, fmt.Errorf("%s: %w: the file does not contain this model", name, ErrNotAlone)
	}
	m := alone.Models[i]
	if m.Launches < m.Jobs || m.Launches/m.Jobs > mostKernels || m.GPUMS <= 0 || m.Throughput <= 0 {
		return experiment.Model{}, fmt.Errorf("%s: %w: %d launches, %v ms of device time in %d jobs", name, ErrNotAlone, m.Launches, m.GPUMS, m.Jobs)
	}
	e := experiment.Model{
		OutputName: m.Output, ModelName: m.Name, Kernels: m.Launches / m.Jobs,
		SleepTime: fromMilliseconds(max(0, 1e3/m.Throughput-m.JCT.Mean)),
	}
	e.Weight = 1
	each := fromMilliseconds(m.GPUMS / float64(m.Launches))
	e.KernelTimes = slices.Repeat([]time.Duration{max(each, 1)}, e.Kernels)
	// A job that takes longer than its kernels launches slowly.
	if launch := (fromMilliseconds(m.JCT.Mean) - each) / time.Duration(e.Kernels); launch > each {
		e.LaunchCost = launch
	}
	return e, nil
}

// fromMilliseconds is milliseconds as a duration.
func fromMilliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
