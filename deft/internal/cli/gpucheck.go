package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/gpu"
	"github.com/foretime/foretime/deft/simcuda"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// gpuCheck holds the flags of gpu-check.
type gpuCheck struct {
	out, device     string
	only            []int
	seconds, within seconds
	resume          bool
}

// seconds is a duration, read from a number of seconds such as 6 or a form such as 8m.
type seconds time.Duration

func (s *seconds) Set(text string) error {
	d, err := time.ParseDuration(text)
	if n, plain := strconv.ParseFloat(text, 64); plain == nil {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || d <= 0 {
		return errors.New("want seconds above 0, such as 6, or a duration such as 8m")
	}
	*s = seconds(d)
	return nil
}

func (s *seconds) String() string { return time.Duration(*s).String() }
func (s *seconds) Type() string   { return "duration" }

// newGPUCheckCommand returns gpu-check, which builds what gpu/checks.py needs and runs it.
func newGPUCheckCommand(env *cli.Env) *cobra.Command {
	g := gpuCheck{seconds: seconds(5 * time.Second), within: seconds(8 * time.Minute)}
	c := &cobra.Command{
		Use:     "gpu-check",
		Short:   "Run the checks that need a real GPU",
		Example: "  deft gpu-check --out results --device sim",
		Long: `Run the checks of gpu/README.md, each for at most a minute, and write the results
of each to DIR/check-N.json and all of them to DIR/report.json. They need Python with
PyTorch and torchvision, and a GPU that nothing else uses: missing parts and other
programs are reported first. Without a compiler, set DEFT_MADE to a directory with the
products of deft build-hook. --device sim runs the checks on the simulated device.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := g.check(); err != nil {
				return err
			}
			return g.run(cmd.Context(), env)
		},
	}
	f := c.Flags()
	f.StringVar(&g.out, "out", "", "directory for the results (required)")
	f.IntSliceVar(&g.only, "only", nil, "numbers of the checks to run (default: all)")
	f.StringVar(&g.device, "device", "cuda", "device: cuda or sim")
	cli.Values(c, "device", "cuda", "sim")
	f.Var(&g.seconds, "seconds", "duration of a timed run")
	f.Var(&g.within, "within", "total time limit; later checks are not run")
	f.BoolVar(&g.resume, "resume", false, "skip the checks that passed in an earlier run with the same --out")
	cli.Require(c, "out")
	return c
}

// check returns an error if a flag has a value that the checks do not know.
func (g *gpuCheck) check() error {
	for _, n := range g.only {
		if n < 13 || n > 28 {
			return cli.Usagef("--only %d: want 13 to 28", n)
		}
	}
	switch {
	case g.seconds < seconds(500*time.Millisecond):
		return cli.Usagef("--seconds %v: want 0.5 or more", time.Duration(g.seconds))
	case g.device != "cuda" && g.device != "sim":
		return cli.Usagef("--device %q: want cuda or sim", g.device)
	}
	return nil
}

// run runs the checks. Their program ends when this process does, even if it is killed.
func (g *gpuCheck) run(ctx context.Context, env *cli.Env) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return fmt.Errorf("gpu-check: the checks need Python: %w", err)
	}
	if g.out, err = filepath.Abs(g.out); err == nil {
		err = os.MkdirAll(g.out, 0o755)
	}
	if err != nil {
		return err
	}
	scratch, err := file.NewScratch(sharedMemoryDir(), "deft-run-")
	if err != nil {
		return err
	}
	defer file.RemoveScratch(scratch)
	args, environ, err := checks(ctx, g.device, g.out, scratch)
	if err != nil {
		return err
	}
	for _, n := range g.only {
		args = append(args, "--only", strconv.Itoa(n))
	}
	if g.resume {
		args = append(args, "--resume")
	}
	args = append(args, "--seconds", fmt.Sprint(time.Duration(g.seconds).Seconds()), "--within", fmt.Sprint(time.Duration(g.within).Seconds()), "--scratch", scratch)
	run := exec.CommandContext(ctx, python, args...)
	run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) }
	run.WaitDelay = 10 * time.Second
	run.Env, run.Stdout, run.Stderr = environ, env.Stdout, env.Stderr
	run.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	runtime.LockOSThread() // the kernel sends the signal when this thread ends
	defer runtime.UnlockOSThread()
	if err := run.Run(); err != nil {
		return errors.Join(ctx.Err(), errors.New("gpu-check: some checks failed: see the lines above"))
	}
	return nil
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
