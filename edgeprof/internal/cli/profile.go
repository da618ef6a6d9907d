package cli

import (
	"cmp"
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/prediction"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/shared/cli"
)

// Limits of a profile: the time for which a model runs, the longest one of a slow model, the fewest and the most bursts of
// inferences that are timed, and the seconds of a burst.
const (
	profileTime    = 1500 * time.Millisecond
	longestProfile = 15 * time.Second
	fewestBursts   = 3
	mostBursts     = 40
	burstSeconds   = 10e-3
	mostInference  = 20 // in a burst or in a profile
)

// profiling is a model's own profile on this machine, or the reason why there is none.
type profiling struct {
	profile *profiler.Profile
	kernels []measurement.Kernel // with their times; nil if the model was not run
	version string               // ONNX Runtime: its version and file
	busy    bool                 // other work ran meanwhile
	why     error                // there is no profile
}

// String says where the times of a prediction come from.
func (p *profiling) String() string {
	switch {
	case p.why != nil:
		return fmt.Sprintf("not run here: %v", p.why)
	case p.busy:
		return fmt.Sprintf("run here next to other work, in %s", p.version)
	}
	return "run here in " + p.version
}

// profileHere runs a model on this machine and compares its kernels' times with its rates.
func profileHere(ctx context.Context, with *running, path string, a *onnx.Analysis, machine *device.Device, rates *profiler.Calibration) profiling {
	p := profiling{busy: machine.Load.ProbedTasks != nil && *machine.Load.ProbedTasks > profiler.Busy}
	if p.why = cmp.Or(a.InputDecides(), checkMemory(a, machine.Load.MemoryAvailableBytes)); p.why != nil {
		return p
	}
	limited, cancel := context.WithTimeoutCause(ctx, longestProfile, fmt.Errorf("it takes longer than %v", longestProfile))
	defer cancel()
	c, err := with.profile(limited, path, a, fewestBursts, mostBursts)
	if err != nil {
		p.why = err
		return p
	}
	p.version = with.found[1]
	p.kernels = c.Kernels
	p.profile = profiler.NewProfile(c, rates, with.facts(machine))
	return p
}

// checkMemory returns an error if a run of a model needs more memory than is free.
func checkMemory(a *onnx.Analysis, free int64) error {
	counts, err := a.Characteristics()
	if err != nil {
		return err
	}
	return device.CheckMemory(counts.RunBytes(), free)
}

// profile runs a model for about [profileTime], in so many bursts at least and at most, and
// returns its times. The error matches [runtime.ErrUnavailable] if ONNX Runtime is not installed.
func (r *running) profile(ctx context.Context, path string, a *onnx.Analysis, fewest, most int) (profiler.Case, error) {
	m := profiler.Case{Model: path, Threads: r.threads, Kernels: measurement.NewKernels(a.Kernels())}
	start := time.Now()
	session, err := r.start(ctx, path)
	if err != nil {
		return m, err
	}
	defer session.Close()
	inputs, err := r.inputs(session)
	if err != nil {
		return m, err
	}
	first, err := session.Time(ctx, inputs, 2)
	if err != nil {
		return m, err
	}
	many := burstLength(first)
	profiles, err := session.Profile(ctx, inputs, max(fewestBursts, fewest, many))
	if err != nil {
		return m, err
	}
	for k, times := range measurement.KernelRuns(a.Kernels(), profiles) {
		if t := measurement.TrimmedMean(times); t > 0 {
			m.Kernels[k].Seconds = &t
		}
	}
	for i := 0; i < most && (i < fewest || time.Since(start) < profileTime); i++ {
		burst, err := session.Time(ctx, inputs, many)
		if err != nil {
			return m, err
		}
		m.Times = append(m.Times, burst.UncontendedSeconds(r.threads))
	}
	m.Seconds = m.TypicalSeconds()
	return m, nil
}

// burstLength returns the number of inferences in a burst, from the times of some before it.
func burstLength(t runtime.Timing) int {
	return int(max(1, min(mostInference, burstSeconds/slices.Min(t.Seconds))))
}

// predictorFor returns the predictor for one model on this machine, or, if it is not local, on
// others: by the model's own profile here if it can run, and else by rates alone.
func predictorFor(ctx context.Context, env *cli.Env, with *running, path string, a *onnx.Analysis, machine *device.Device, calibration string, local bool) (*prediction.Calibrated, profiling, error) {
	threads := with.threads // on other devices, which take as many as they have cores
	if !local {
		with.threads = min(with.threads, goruntime.NumCPU())
	}
	with.setThreads(env.Root)
	if err := with.check(); err != nil {
		return nil, profiling{}, err
	}
	if err := a.CheckDefined(); err != nil {
		return nil, profiling{}, fmt.Errorf("%s: %w", path, err)
	}
	if local {
		threads = with.threads
	}
	if local && !with.usesCPU() { // its rates say nothing without it
		if err := with.require(ctx, env); err != nil {
			return nil, profiling{}, err
		}
	}
	catalog := newCatalog(with.provider)
	rates, err := catalog.Rates(calibration)
	if err != nil {
		return nil, profiling{}, err
	}
	if local {
		rates = rates.ForThisMachine()
	}
	predictor := prediction.NewCalibrated(rates, catalog).WithThreads(threads)
	p := profileHere(ctx, with, path, a, machine, rates)
	if p.profile != nil {
		predictor = predictor.WithProfile(p.profile)
	}
	return predictor, p, ctx.Err()
}
