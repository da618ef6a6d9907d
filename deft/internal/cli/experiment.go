package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/deft/internal/trial"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// setting holds the flags of run.
type setting struct {
	file, device, clock, policy, out string
	discipline                       string
	duration                         time.Duration
	seed                             int64
	slack                            float64
	alone                            bool
	intervals                        []int
	answer                           cli.Output
	given                            func(flag string) bool
	warned                           map[string]bool // warnings already printed
	folder                           *os.File        // --out-dir, locked
}

func (s *setting) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&s.file, "file", "f", "", "`file` of the experiment, JSON or YAML (required)")
	f.StringVar(&s.device, "device", "sim", "device: sim (simulated) or cuda")
	cli.Values(c, "device", "sim", "cuda")
	f.StringVar(&s.clock, "clock", "real", "clock: real (with processes) or virtual (a simulation)")
	cli.Values(c, "clock", "real", "virtual")
	f.StringVar(&s.discipline, "discipline", "", "simulated device: fifo, turns (a GPU without MPS) or mps (default: the file's)")
	cli.Values(c, "discipline", "fifo", "turns", "mps")
	f.StringVar(&s.out, "out-dir", "", "`directory` for the logs of all models (default: each model's output_file_path)")
	f.DurationVar(&s.duration, "duration", 0, "duration of the run, such as 5s (default: the file's exp_dur)")
	f.Int64Var(&s.seed, "seed", 0, "random seed, 0 or more (default: the file's)")
	s.answer.Flags(c, report.Run{})
	s.answer.AnswerWith("sync", trial.Sweep{})
	f.BoolVar(&s.alone, "alone", false, "run the models one after another instead, each alone on the device")
	f.IntSliceVar(&s.intervals, "sync", nil, "run under each of these synchronization intervals, in launches, of the models below the highest priority")
	c.MarkFlagsMutuallyExclusive("alone", "sync")
	cli.Require(c, "file")
	s.given = f.Changed
	f.Float64Var(&s.slack, "slack", 0, slackHelp)
	f.StringVar(&s.policy, "policy", "", fmt.Sprintf("policy for all models (default: the file's control): %v", policy.Policies.Names()))
	cli.Values(c, "policy", policy.Policies.Names()...)
}

// load reads the experiment and applies the flags.
func (s *setting) load(env *cli.Env) (*experiment.Experiment, error) {
	if s.device != "sim" && s.device != "cuda" {
		return nil, cli.Usagef("--device: %q, want sim or cuda", s.device)
	}
	if s.clock != "real" && s.clock != "virtual" {
		return nil, cli.Usagef("--clock: %q, want real or virtual", s.clock)
	}
	if s.clock == "virtual" && s.device == "cuda" {
		return nil, cli.Usagef("--clock virtual: only with --device sim")
	}
	if err := checkSlack(s.slack, s.given); err != nil {
		return nil, err
	}
	x, err := experiment.Load(s.file)
	if err != nil {
		return nil, err
	}
	for _, w := range x.Warnings {
		s.warn(env, w.Error())
	}
	x.Policy = cmp.Or(s.policy, x.Policy)
	x.Slack = cmp.Or(s.slack, x.Slack)
	switch device.Discipline(s.discipline) {
	case "":
	case device.FIFO, device.Turns, device.MPS:
		x.Device.Discipline = device.Discipline(s.discipline)
	default:
		return nil, cli.Usagef("--discipline: %q, want fifo, turns or mps", s.discipline)
	}
	if s.device == "cuda" {
		x.Device = device.Settings{Discipline: device.OfGPU(os.Getenv)}
	}
	if _, err := policy.New(x.PolicyName(), x.Rules()); err != nil {
		if s.policy != "" {
			return nil, cli.Usagef("--policy: %w", err)
		}
		return nil, fmt.Errorf("%s: policy: %w", s.file, err)
	}
	if s.given("duration") && s.duration <= 0 {
		return nil, cli.Usagef("--duration %v: want a duration above 0", s.duration)
	}
	x.Duration = cmp.Or(s.duration, x.Duration)
	if s.given("seed") {
		if s.seed < 0 {
			return nil, cli.Usagef("--seed %d: want 0 or more", s.seed)
		}
		x.Seed = uint64(s.seed)
	}
	if s.out != "" {
		if err := os.MkdirAll(s.out, 0o755); err != nil {
			return nil, err
		}
		if s.folder, err = daemon.Lock(s.out, os.O_RDONLY); errors.Is(err, daemon.ErrOwned) {
			return nil, fmt.Errorf("--out-dir %s: another run is writing into this directory", s.out)
		} else if errors.Is(err, file.ErrNoLocks) {
			env.Log.Warn(err)
		} else if err != nil {
			return nil, err
		}
		if err := x.SetOutputDir(s.out); err != nil {
			return nil, fmt.Errorf("%s: --out-dir: %w", s.file, err)
		}
	}
	return x, protectInputs(env, x)
}

// writable returns an error for a directory in which this user cannot create files. One that
// does not exist is created later.
func writable(dir string) error {
	dir = cmp.Or(dir, ".")
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: cannot create files in this directory: %w", dir, err)
	}
	return nil
}

// protectInputs rejects an experiment if one of its logs or results would replace a file
// that it reads, the experiment among them, or cannot be written.
func protectInputs(env *cli.Env, x *experiment.Experiment) error {
	var read, written []string
	for i := range x.Models {
		m := &x.Models[i]
		if m.InputFile != "" {
			read = append(read, m.InputFile)
		}
		if m.Trace != "" {
			read = append(read, m.Trace)
		}
		if err := writable(m.OutputDir); err != nil {
			return err
		}
		written = append(written, m.CSV(), m.Log())
		for _, name := range []string{"run.json", "alone.json", "models_pid.json", "alone/run.json"} {
			written = append(written, filepath.Join(m.OutputDir, name))
		}
	}
	return errors.Join(env.Input(read...), env.Output(written...))
}

// warn prints a warning once.
func (s *setting) warn(env *cli.Env, w string) {
	if s.warned == nil {
		s.warned = map[string]bool{}
	}
	if !s.warned[w] {
		env.Log.Warn(w)
	}
	s.warned[w] = true
}

// play returns a function that runs an experiment once and writes its files. If a run fails in
// part, it returns both an outcome and an error.
func (s *setting) play(env *cli.Env) trial.Play {
	run := trial.Virtual
	if s.clock == "real" {
		run = s.real(env)
	}
	return func(ctx context.Context, x *experiment.Experiment) (*trial.Outcome, error) {
		o, err := run(ctx, x)
		if o == nil {
			return nil, err
		}
		return o, errors.Join(err, o.Save())
	}
}
