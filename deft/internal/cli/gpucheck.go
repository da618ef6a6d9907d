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

// newGPUCheckCommand returns gpu-check, which builds what gpu/checks.py needs and runs it.
func newGPUCheckCommand(env *cli.Env) *cobra.Command {
	var out, device string
	var only []int
	var seconds int
	var within time.Duration
	c := &cobra.Command{
		Use:     "gpu-check",
		Short:   "Run the checks that need a real GPU",
		Example: "  deft gpu-check --out results --device sim",
		Long: `Run the checks of gpu/README.md, each for at most 8 minutes, and write the results
of each to DIR/check-N.json. They need Python with PyTorch and torchvision; missing
parts are reported first. Without a compiler, set DEFT_MADE to a directory with the
products of deft build-hook. --device sim runs the checks on the simulated device.`,
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
				return cli.Usagef("--within %v: want a duration above 0", within)
			case device != "cuda" && device != "sim":
				return cli.Usagef("--device %q: want cuda or sim", device)
			}
			python, err := exec.LookPath("python3")
			if err != nil {
				return fmt.Errorf("gpu-check: the checks need Python: %w", err)
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
				return errors.Join(cmd.Context().Err(), errors.New("gpu-check: some checks failed: see the lines above"))
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&out, "out", "", "directory for the results (required)")
	f.IntSliceVar(&only, "only", nil, "numbers of the checks to run (default: all)")
	f.StringVar(&device, "device", "cuda", "device: cuda or sim")
	cli.Values(c, "device", "cuda", "sim")
	f.IntVar(&seconds, "seconds", 20, "seconds of each timed run")
	f.DurationVar(&within, "within", 22*time.Minute, "total time limit; later checks are not run")
	cli.Require(c, "out")
	return c
}

// checks builds the parts that the checks use and returns the arguments and the
// environment of their program.
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
