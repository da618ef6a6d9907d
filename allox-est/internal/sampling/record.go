package sampling

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/launch"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/timing"
)

// record fills a journal entry from a run's result.
func record(run *journal.Run, spec *jobspec.Spec, res *launch.Result) {
	run.Start = res.Start.UTC().Truncate(time.Millisecond)
	run.Wall = res.Wall.Seconds()
	run.CPU = res.CPU.Seconds()
	run.Wait = res.Wait.Seconds()
	run.GPUPeakBytes = res.GPUPeakBytes
	run.PeakBytes, run.Parallel = res.PeakBytes, math.Round(100*res.Parallel)/100
	warn := func(format string, args ...any) {
		run.Warnings = append(run.Warnings, fmt.Sprintf(format, args...))
	}
	if res.LeftBehind > 0 {
		warn("killed %s that outlived the job", plural.Count(res.LeftBehind, "process"))
	}
	if res.Request != nil && res.Err == nil {
		run.Error = fmt.Sprintf("ended after a signal to end (%v)", res.Request)
		return
	}
	if res.Background {
		warn("the job goes on in the background, with its output open: the time is that of its first process")
	}
	if run.Stopped != "" {
		warn("%s; the time after its last epoch is not in this estimate", run.Stopped)
	} else if res.Err != nil {
		run.Error, run.Stderr = res.Reason(), res.Stderr()
		run.Exit = -1
		if run.Timeout > 0 {
			run.Error += "; a longer sample.timeout gives it more time"
		}
		if exit := (*launch.ExitError)(nil); errors.As(res.Err, &exit) {
			run.Exit, run.Signal = exit.Status(), int(exit.Signal)
		}
		return
	}
	switch {
	case run.Device != jobspec.GPU:
	case res.GPU == launch.NoGPU:
		run.Error = "ran on the CPU: no process of the job had a GPU open"
		return
	case res.GPU == launch.GPUOpen && res.GPUWatched:
		warn("a GPU was open, but nvidia-smi showed neither memory nor work of the job on it")
	}
	if err := recordLaps(run, spec, res, warn); err != nil {
		run.Error, run.Stderr = err.Error(), res.Stderr()
	}
}

// recordLaps takes the marks and laps from the time-writer report or from the lines.
func recordLaps(run *journal.Run, spec *jobspec.Spec, res *launch.Result, warn func(string, ...any)) error {
	if run.Stopped != "" {
		recordStopped(run, res)
		return nil
	}
	out, at, err := res.Output()
	switch {
	case spec.Progress.Pattern != "" || errors.Is(err, timing.ErrNoTag):
		return recordMarks(run, spec, res, warn)
	case err != nil:
		return fmt.Errorf("time-writer report: %w", err)
	}
	for _, w := range out.Warnings {
		warn("%v", w)
	}
	laps := out.Laps()
	if len(laps) < 3 || len(laps) > run.Epochs+2 {
		warn("time-writer report of %d laps for %d %ss, want %d: not used", len(laps), run.Epochs, cmp.Or(spec.Unit, jobspec.Epoch), run.Epochs+2)
		return nil
	}
	total := out.Total()
	if total > 1.02*run.Wall+0.05 {
		return fmt.Errorf("time-writer report: %.3f s of laps in a run of %.3f s", total, run.Wall)
	}
	run.Laps = laps
	// On a busy machine the report may be read after the run has ended.
	run.Before = max(0, min(at.Seconds(), run.Wall)-total)
	run.After = max(0, run.Wall-run.Before-total)
	noteStop(run, float64(len(laps)-2), warn)
	run.Marks = run.Timeline()
	recordTrace(run, res)
	return nil
}

// noteStop notes that a job ended by itself before all its units: what it did is a
// run of that many.
func noteStop(run *journal.Run, units float64, warn func(string, ...any)) {
	if n := int(units); n < run.Epochs {
		warn("the job stopped by itself at %d of %d", n, run.Epochs)
		run.Asked, run.Epochs = run.Epochs, max(1, n)
	}
}

// recordMarks takes the marks of the lines.
func recordMarks(run *journal.Run, spec *jobspec.Spec, res *launch.Result, warn func(string, ...any)) error {
	marks := res.Marks
	n := len(marks)
	switch {
	case n == 0 && spec.Progress.Pattern != "":
		return fmt.Errorf("no line matches '%s'", spec.Progress.Pattern)
	case n == 0:
		warn("no time-writer report, and %s (--pattern selects progress lines): only whole runs count", res.Unmarked)
		return nil
	case res.Unmarked != "" || n > 1 && marks[n-1].Seconds-marks[0].Seconds < run.Wall/1000:
		warn("%s; only whole runs count", cmp.Or(res.Unmarked, fmt.Sprintf("all %d marks came at once: the job buffers its output", n)))
		return nil
	}
	run.Epochs = cmp.Or(run.Epochs, int(marks[0].Of))
	if res.Stopped > 0 {
		noteStop(run, res.Stopped, warn)
	}
	for i := range marks {
		marks[i].Of = float64(run.Epochs)
	}
	run.Marks, run.Laps = marks, progress.Laps(marks, run.Wall)
	recordTrace(run, res)
	return nil
}

// recordStopped takes the marks of a sample that was stopped. It ends at its last mark:
// the teardown is unknown.
func recordStopped(run *journal.Run, res *launch.Result) {
	marks := res.Marks
	if len(marks) < 2 || res.Unmarked != "" {
		run.Error = run.Stopped + "; its progress is not clear: " + res.Unmarked
		return
	}
	last := marks[len(marks)-1]
	run.Asked, run.Epochs = run.Epochs, max(1, int(last.Number))
	for i := range marks {
		marks[i].Of = float64(run.Epochs)
	}
	run.Wall = last.Seconds
	run.CPU, run.Wait = traceAt(res.Trace, time.Duration(run.Wall*float64(time.Second)))
	run.Marks, run.Laps = marks, progress.Laps(marks, run.Wall)
	recordTrace(run, res)
}

// recordTrace cuts the trace of processor time and wait at the laps.
func recordTrace(run *journal.Run, res *launch.Result) {
	at := run.Before
	var cpu, wait float64
	for i, lap := range run.Laps {
		at += lap
		if i == len(run.Laps)-1 {
			at = run.Wall
		}
		c, w := traceAt(res.Trace, time.Duration(at*float64(time.Second)))
		run.LapCPU = append(run.LapCPU, max(0, c-cpu))
		run.LapWait = append(run.LapWait, max(0, w-wait))
		cpu, wait = max(cpu, c), max(wait, w)
	}
}

// traceAt returns processor time and wait at a time, on the straight line
// between two readings.
func traceAt(trace []launch.Point, at time.Duration) (cpu, wait float64) {
	i := sort.Search(len(trace), func(i int) bool { return trace[i].At >= at })
	if i == len(trace) {
		i--
	}
	var from launch.Point
	if i > 0 {
		from = trace[i-1]
	}
	to := trace[i]
	share := 1.0
	if to.At > from.At {
		share = min(1, float64(at-from.At)/float64(to.At-from.At))
	}
	return from.CPU.Seconds() + share*(to.CPU-from.CPU).Seconds(), from.Wait.Seconds() + share*(to.Wait-from.Wait).Seconds()
}
