package sampling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/launch"
	"github.com/foretime/foretime/allox-est/internal/progress"
)

// Runner executes a command; *launch.Runner does.
type Runner interface {
	Run(ctx context.Context, c launch.Command) (*launch.Result, error)
}

var _ Runner = (*launch.Runner)(nil)

// Sampler executes runs and writes them to a journal.
type Sampler struct {
	Plan
	Journal  *journal.Journal
	Runner   Runner
	Env      []string // environment of the job, before its own settings
	Machine  Machine
	Identity journal.Identity // of the runs made
	// Watch, if not nil, is called with the marks of a run as they come, and Output
	// gets what it prints.
	Watch func([]progress.Mark)
	// Counted, if not nil, is called with what a run has printed, before Watch.
	Counted func(*progress.Reader)
	Output  io.Writer
	// Input is the standard input of the run that Keep makes.
	Input *os.File
	// Progress, if not nil, is called when a run begins, makes progress and ends.
	Progress func(Event)
	// Costed, if not nil, is called once for each sample, when its marks show its cost.
	Costed func(Step, Cost)
}

// Event is the progress of a run.
type Event struct {
	Step Step
	Done float64 // share of its epochs; 1 when it has ended
}

// Sample makes samples until no device of the plan needs more. A run that fails is in
// the journal and no error.
func (s *Sampler) Sample(ctx context.Context) error {
	for {
		step, ok := s.Next(s.Journal)
		if !ok {
			return nil
		}
		if err := s.make(ctx, step); err != nil {
			return err
		}
	}
}

// Full makes whole runs until there are count of each device that succeeded,
// in turn.
func (s *Sampler) Full(ctx context.Context, devices []string, count int) error {
	for n := range count {
		for _, device := range devices {
			if err := s.until(ctx, Step{device, journal.Full, s.Spec.Epochs, 0}, n+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// until makes runs until so many of their kind have succeeded, or too many failed.
func (s *Sampler) until(ctx context.Context, step Step, count int) error {
	for {
		runs := s.Journal.Of(s.Spec.Hash(step.Device), step.Kind)
		if GivenUp(runs) || len(usable(runs)) >= count {
			return nil
		}
		if err := s.make(ctx, step); err != nil {
			return err
		}
	}
}

// make executes one run and writes it to the journal.
func (s *Sampler) make(ctx context.Context, step Step) error {
	s.progress(step, 0)
	watched := *s
	costed := false
	watched.Watch = func(marks []progress.Mark) {
		if s.Watch != nil {
			s.Watch(marks)
		}
		if n := len(marks); n > 0 {
			s.progress(step, min(1, marks[n-1].Number/float64(max(1, step.Epochs))))
		}
		if cost, known := CostOf(marks, step.Epochs, s.Spec.Epochs); known && !costed && s.Costed != nil && step.Kind == journal.Sample && step.Stage == 0 {
			costed = true
			s.Costed(step, cost)
		}
	}
	run, err := watched.execute(ctx, step)
	if run == nil {
		return err
	}
	if failed := s.Journal.Append(*run); failed != nil {
		return fmt.Errorf("journal: %w", failed)
	}
	s.progress(step, 1)
	return err
}

func (s *Sampler) progress(step Step, done float64) {
	if s.Progress != nil {
		s.Progress(Event{step, done})
	}
}

// Keep makes the whole run that the user wants, and returns it. It is not in the journal.
func (s *Sampler) Keep(ctx context.Context, device string) (*journal.Run, error) {
	run, err := s.execute(ctx, Step{device, journal.Full, s.Spec.Epochs, 0})
	if err != nil {
		return nil, err
	}
	run.Command = s.Spec.Command
	run.Dir, err = filepath.Abs(s.Spec.WorkDir())
	return run, err
}

func (s *Sampler) execute(ctx context.Context, step Step) (*journal.Run, error) {
	command, err := s.command(step)
	if err != nil {
		return nil, err
	}
	load := s.Machine.load()
	result, err := s.Runner.Run(ctx, command)
	if result == nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	run := &journal.Run{
		Job: s.Spec.Hash(step.Device), Name: s.Spec.Name, Kind: step.Kind, Device: step.Device,
		Threads: s.Spec.Device(step.Device).Threads, Epochs: step.Epochs, Stage: step.Stage,
		Load: load, CPUs: s.Machine.CPUs, Identity: s.Identity,
	}
	if errors.Is(result.Err, launch.ErrTimeout) {
		run.Timeout = command.Timeout.Seconds()
	}
	cut := ctx.Err() != nil || run.Timeout > 0
	switch {
	case cut && step.Kind == journal.Sample && len(result.Marks) >= leastMarks:
		run.Stopped = "the sample was ended early"
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	record(run, s.Spec, result)
	return run, ctx.Err()
}

// leastMarks is the least number of marks from which on a sample that was ended early counts.
const leastMarks = 3

func (s *Sampler) command(step Step) (launch.Command, error) {
	args, err := s.Spec.Args(step.Device, step.Epochs, jobspec.Own{Scratch: launch.ScratchWord, Stage: step.Stage})
	if err != nil {
		return launch.Command{}, err
	}
	dir := s.Spec.WorkDir()
	if info, err := os.Stat(dir); dir != "" && (err != nil || !info.IsDir()) {
		return launch.Command{}, fmt.Errorf("dir: %s: no such directory", dir)
	}
	reader, err := s.Spec.Reader(step.Epochs)
	if err != nil {
		return launch.Command{}, err
	}
	reader.Start = float64(step.Stage)
	reader.Short = step.Kind == journal.Sample
	timeout := time.Duration(0)
	if step.Kind == journal.Sample {
		timeout = s.Spec.Sample.Timeout
	}
	return launch.Command{
		Args: args, Dir: dir, Env: s.Spec.Environ(s.Env), Timeout: timeout,
		Reader: reader, Marked: s.Watch, Counted: s.Counted, Input: s.Input, Output: s.Output, GPU: step.Device == jobspec.GPU,
	}, nil
}

// Machine holds a run's record of the machine.
type Machine struct {
	CPUs int
	GPU  bool   // a GPU's device file is there
	Proc string // proc file system for the load; empty means none
}

// FindMachine looks at the machine below root, which is "/" but in tests.
func FindMachine(root string, cpus int) Machine {
	m := Machine{CPUs: cpus, Proc: filepath.Join(root, "proc")}
	for _, pattern := range launch.GPUDevices {
		if found, _ := filepath.Glob(filepath.Join(root, pattern)); len(found) > 0 {
			m.GPU = true
		}
	}
	return m
}

// load returns the load average over one minute; 0 where it is not known.
func (m Machine) load() float64 {
	b, err := os.ReadFile(filepath.Join(m.Proc, "loadavg"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(b), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}
