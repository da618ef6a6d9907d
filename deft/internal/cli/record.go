package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/pair"
	"github.com/foretime/foretime/deft/internal/trial"
	"github.com/foretime/foretime/deft/simcuda"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/file"
)

// recorder runs programs alone and records what they launch.
type recorder struct {
	device  string        // cuda or sim
	seconds time.Duration // of each recording, from the first launch on
}

// warmUpPart is the part of a recording in which a program loads and warms up.
const warmUpPart = 0.4

// record runs a program for a time and returns its trace.
func (r *recorder) record(ctx context.Context, env *cli.Env, args []string) (*pair.Trace, error) {
	cache, err := productCache()
	if err != nil {
		return nil, err
	}
	lib, err := hook.BuildTrace(ctx, cache)
	if err != nil {
		return nil, err
	}
	scratch, err := file.NewScratch(sharedMemoryDir(), "deft-pair-")
	if err != nil {
		return nil, err
	}
	defer file.RemoveScratch(scratch)
	environ := os.Environ()
	if r.device == "sim" {
		if environ, err = simulatedEnviron(ctx, cache, simcuda.Device{File: filepath.Join(scratch, "device")}); err != nil {
			return nil, err
		}
	}
	rows := filepath.Join(scratch, "trace")
	ended, err := r.run(ctx, env, args, append(hook.Preload(environ, lib), "DEFT_TRACE="+rows), rows)
	if err != nil {
		return nil, err
	}
	t, err := longestRecording(rows+".*", time.Duration(warmUpPart*float64(r.seconds)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	t.Program, t.Device = strings.Join(args, " "), r.device
	if ended {
		t.Warnings = append(t.Warnings, fmt.Errorf("%s: it ended before its %v were over: only %d launches are recorded", t.Program, r.seconds, len(t.Launches)))
	}
	return t, nil
}

// loading is the time that a program may take until its first launch.
const loading = 2 * time.Minute

// run runs a program until it ends, or until its time after the first launch is over: when
// a file of rows appears. The program does not outlive this one. It returns whether the
// program ended by itself.
func (r *recorder) run(ctx context.Context, env *cli.Env, args, environ []string, rows string) (ended bool, err error) {
	timed, cancel := context.WithCancel(ctx)
	defer cancel()
	crash.Go(func() {
		end := time.Now().Add(loading)
		for started := false; time.Now().Before(end) && timed.Err() == nil; time.Sleep(10 * time.Millisecond) {
			if found, _ := filepath.Glob(rows + ".*"); !started && len(found) > 0 {
				started, end = true, time.Now().Add(r.seconds)
			}
		}
		cancel()
	})
	cmd := trial.Program{Path: args[0], Args: args[1:], Env: environ}.Command(timed)
	cmd.Stdout, cmd.Stderr = env.Stderr, env.Stderr
	runtime.LockOSThread() // the kernel sends Pdeathsig when this thread ends
	defer runtime.UnlockOSThread()
	err = cmd.Run()
	if cmd.Process != nil {
		trial.KillGroup(cmd.Process) // what is left of its group
	}
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case timed.Err() != nil:
		return false, nil // as planned
	case cmd.Process == nil: // it did not start
		return false, err
	case err != nil:
		return false, fmt.Errorf("%s: it ended before its %v were over: %w", args[0], r.seconds, err)
	}
	return true, nil
}

// longestRecording reads the longest of a program's recordings: one per process.
func longestRecording(pattern string, skip time.Duration) (*pair.Trace, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	var best string
	var most int64
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Size() > most {
			best, most = path, info.Size()
		}
	}
	if best == "" {
		return nil, errNoLaunch
	}
	return pair.ReadRecording(best, skip)
}

var errNoLaunch = errors.New("it launched nothing that the hook saw (deft doctor -- COMMAND finds out why), or ended before it did")

// twoCommands splits "CMD_A -- CMD_B".
func twoCommands(args []string) (a, b []string, err error) {
	for i, arg := range args {
		if arg == "--" {
			a, b = args[:i], args[i+1:]
			break
		}
	}
	if len(a) == 0 || len(b) == 0 {
		return nil, nil, cli.Usagef("want two commands: deft pair -- COMMAND_A -- COMMAND_B")
	}
	return a, b, nil
}
