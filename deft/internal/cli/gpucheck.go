package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/gpu"
	"github.com/foretime/foretime/deft/simcuda"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// newGPUCheckCommand runs what only a GPU can tell: gpu/checks.py, with what it
// needs built.
func newGPUCheckCommand(env *cli.Env) *cobra.Command {
	var out, device string
	var only []int
	var seconds int
	var within time.Duration
	c := &cobra.Command{
		Use:     "gpu-check",
		Short:   "Check on a GPU what only a GPU can tell",
		Example: "  deft gpu-check --out results --device sim",
		Long: `Run the checks of gpu/README.md, each for 8 minutes at most, and write what was
measured to DIR/check-N.json as each ends. Python runs them, with PyTorch and
torchvision; what is missing is said first. On a machine without a compiler, what
deft build-hook made is taken from the folder that DEFT_MADE names. With
--device sim they are rehearsed on the simulated device.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, n := range only {
				if n < 13 || n > 20 {
					return cli.Usagef("--only %d: want 13 to 20", n)
				}
			}
			switch {
			case seconds < 1:
				return cli.Usagef("--seconds %d: want 1 or more", seconds)
			case within <= 0:
				return cli.Usagef("--within %v: want a time above 0", within)
			case device != "cuda" && device != "sim":
				return cli.Usagef("--device %q: want cuda or sim", device)
			}
			python, err := exec.LookPath("python3")
			if err != nil {
				return fmt.Errorf("gpu-check: Python runs the checks: %w", err)
			}
			if out, err = filepath.Abs(out); err == nil {
				err = os.MkdirAll(out, 0o755)
			}
			if err != nil {
				return err
			}
			scratch, err := file.NewScratch(shm(), "deft-run-")
			if err != nil {
				return err
			}
			defer file.RemoveScratch(scratch)
			args, environ, err := checks(cmd.Context(), device, out, scratch)
			if err != nil {
				return err
			}
			for _, n := range only {
				args = append(args, "--only", strconv.Itoa(n))
			}
			args = append(args, "--seconds", strconv.Itoa(seconds), "--within", fmt.Sprint(within.Seconds()))
			run := exec.CommandContext(cmd.Context(), python, args...)
			run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) }
			run.WaitDelay = 5 * time.Second
			run.Env, run.Stdout, run.Stderr = environ, env.Stdout, env.Stderr
			if err := run.Run(); err != nil {
				return errors.Join(cmd.Context().Err(), errors.New("gpu-check: see above"))
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&out, "out", "", "folder of the results (required)")
	f.IntSliceVar(&only, "only", nil, "numbers of the checks (default: all)")
	f.StringVar(&device, "device", "cuda", "cuda or sim")
	cli.Values(c, "device", "cuda", "sim")
	f.IntVar(&seconds, "seconds", 20, "length of each run that is timed")
	f.DurationVar(&within, "within", 22*time.Minute, "longest that all may take; what is left then is not run")
	cli.Require(c, "out")
	return c
}

// checks builds what the checks use and returns their program with its arguments
// and the environment that it needs.
func checks(ctx context.Context, device, out, scratch string) (args, environ []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	compiler, lib, err := library(ctx)
	if err != nil {
		return nil, nil, err
	}
	folder, sources := filepath.Join(scratch, "gpu"), filepath.Join(scratch, "sources")
	if err := errors.Join(os.CopyFS(folder, gpu.Files), os.CopyFS(sources, simcuda.Sources())); err != nil {
		return nil, nil, err
	}
	environ = os.Environ()
	if device == "sim" {
		if environ, err = simulated(ctx, compiler, simcuda.Device{}); err != nil {
			return nil, nil, err
		}
	}
	return []string{
		filepath.Join(folder, "checks.py"), "check", self, out, "--device", device, "--preload", lib, "--layouts", filepath.Join(sources, "layout_check.c"),
	}, environ, nil
}
