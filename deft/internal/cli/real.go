package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/foretime/foretime/deft/gpu"
	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/trial"
	"github.com/foretime/foretime/deft/simcuda"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/file"
)

// real returns a function that runs an experiment with processes, under the hook built
// for this machine.
func (s *setting) real(env *cli.Env) func(context.Context, *experiment.Experiment) (*trial.Outcome, error) {
	return func(ctx context.Context, x *experiment.Experiment) (*trial.Outcome, error) {
		scratch, err := file.NewScratch(sharedMemoryDir(), "deft-run-")
		if err != nil {
			return nil, err
		}
		defer file.RemoveScratch(scratch)
		removeLeftovers(sessionDir(""))
		machine, err := s.machine(ctx, x, scratch)
		if err != nil {
			return nil, err
		}
		j := sessionFlags{session: "run-" + strconv.Itoa(os.Getpid()), device: s.device}
		if machine.Place, err = j.place(); err != nil {
			return nil, err
		}
		stop := progress(env, x.Duration)
		o, err := trial.Real(ctx, x, machine)
		stop()
		if o == nil {
			return nil, err
		}
		for _, w := range o.Run.Warnings {
			s.warn(env, w)
		}
		return o, err
	}
}

// progress moves a progress bar over the planned duration of a run, until stop is called.
// Loading the models takes longer, so the bar may wait at its end.
func progress(env *cli.Env, d time.Duration) (stop func()) {
	bar := env.Progress("run", d.Milliseconds())
	done := make(chan struct{})
	crash.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for begin := time.Now(); ; {
			select {
			case <-tick.C:
				bar.Set(min(time.Since(begin), d).Milliseconds())
			case <-done:
				return
			}
		}
	})
	return func() { close(done); bar.Done() }
}

// machine builds the files that the processes need.
func (s *setting) machine(ctx context.Context, x *experiment.Experiment, scratch string) (trial.Machine, error) {
	lib, cache, err := library(ctx)
	if err != nil {
		return trial.Machine{}, err
	}
	if s.device == "sim" {
		built, err := simcuda.Build(ctx, cache)
		if err != nil {
			return trial.Machine{}, err
		}
		return trial.SimulatedMachine(x, lib, built, scratch, os.Environ()), nil
	}
	script := filepath.Join(scratch, "run_model.py")
	if err := os.WriteFile(script, gpu.RunModel, 0o600); err != nil {
		return trial.Machine{}, err
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return trial.Machine{}, err
	}
	return trial.CUDA(lib, python, script, scratch, os.Environ()), nil
}

// sharedMemoryDir returns the directory of shared memory, or that of temporary files if there is none.
func sharedMemoryDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}
