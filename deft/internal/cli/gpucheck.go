package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/gpu"
	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/report"
	"github.com/foretime/foretime/deft/simcuda"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/file"
)

// slice is the longest that one check may take.
const slice = 8 * time.Minute

// errTime is why a check was not begun.
var errTime = errors.New("not run: the time of all checks is over; run it with --only")

// errSkipped is returned by a check that this machine has not what it needs for.
var errSkipped = errors.New("skipped")

// gpuCheck is one of the checks of gpu/README.md, by its number there.
type gpuCheck struct {
	number int
	name   string
	run    func(*checker, context.Context) (measured any, passed bool, err error)
}

func gpuChecks() []gpuCheck {
	return []gpuCheck{
		{13, "every launch is seen", (*checker).launches},
		{14, "cost of passing through", (*checker).cost},
		{15, "the urgent job", (*checker).urgent},
		{16, "one dies, the other lives", (*checker).death},
		{17, "forked workers", (*checker).workers},
		{18, "layouts", (*checker).layouts},
	}
}

// checked is what came of one, as gpu-check writes it.
type checked struct {
	Check    int     `json:"check"`
	Name     string  `json:"name"`
	Device   string  `json:"device"`
	Passed   bool    `json:"passed"`
	Seconds  float64 `json:"seconds"`
	Measured any     `json:"measured,omitempty"`
	Error    string  `json:"error,omitempty"` // why it did not pass, or was skipped
}

// checker has what the checks need.
type checker struct {
	env            *cli.Env
	self, lib, out string
	python, script string // on a GPU
	workload       string // on the simulated device
	environ        []string
	device         string
	seconds        int           // of a run
	within         time.Duration // of all checks
}

// newGPUCheckCommand runs what only a GPU can tell.
func newGPUCheckCommand(env *cli.Env) *cobra.Command {
	c := checker{env: env}
	var only []int
	cmd := &cobra.Command{
		Use:   "gpu-check",
		Short: "Check on a GPU what only a GPU can tell",
		Long: `Run the checks 13 to 18 of gpu/README.md, each for 8 minutes at most and all
within 22, and write what was measured to DIR/check-N.json. On a machine without a compiler, what
deft build-hook made is taken from the folder that DEFT_MADE names. With
--device sim they are rehearsed on the simulated device.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.seconds < 1 {
				return cli.Usagef("--seconds %d: want 1 or more", c.seconds)
			}
			if c.within <= 0 {
				return cli.Usagef("--within %v: want a time above 0", c.within)
			}
			return c.all(cmd.Context(), only)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.out, "out", "", "folder of the results (required)")
	f.IntSliceVar(&only, "only", nil, "numbers of the checks (default: all)")
	f.StringVar(&c.device, "device", "cuda", "cuda or sim")
	f.IntVar(&c.seconds, "seconds", 20, "length of each run that is timed")
	f.DurationVar(&c.within, "within", 22*time.Minute, "longest that all may take; what is left then is not run")
	cli.Require(cmd, "out")
	return cmd
}

func (c *checker) all(ctx context.Context, only []int) error {
	checks := gpuChecks()
	for _, n := range only {
		if !slices.ContainsFunc(checks, func(g gpuCheck) bool { return g.number == n }) {
			return cli.Usagef("--only %d: want 13 to 18", n)
		}
	}
	scratch, err := newScratch(shm())
	if err != nil {
		return err
	}
	defer scratch.Remove()
	if err := c.prepare(ctx, scratch.path); err != nil {
		return err
	}
	var failed []string
	end := time.Now().Add(c.within)
	for _, g := range checks {
		if len(only) > 0 && !slices.Contains(only, g.number) {
			continue
		}
		r := c.one(ctx, g, time.Until(end))
		if err := file.WriteJSON(filepath.Join(c.out, fmt.Sprintf("check-%d.json", g.number)), r); err != nil {
			return err
		}
		word := "ok"
		if r.Error != "" {
			word = r.Error
		}
		if _, err := fmt.Fprintf(c.env.Stdout, "%d %s: %s (%.1f s)\n", g.number, g.name, word, r.Seconds); err != nil {
			return err
		}
		if !r.Passed && !strings.HasPrefix(r.Error, errSkipped.Error()) {
			failed = append(failed, strconv.Itoa(g.number))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("gpu-check: not passed: %s", strings.Join(failed, ", "))
	}
	return nil
}

// one runs a check for as long as there is.
func (c *checker) one(ctx context.Context, g gpuCheck, left time.Duration) checked {
	if left <= 0 {
		return checked{Check: g.number, Name: g.name, Device: c.device, Error: errTime.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, min(slice, left))
	defer cancel()
	begin := time.Now()
	measured, passed, err := g.run(c, ctx)
	r := checked{Check: g.number, Name: g.name, Device: c.device, Passed: passed && err == nil, Seconds: time.Since(begin).Seconds(), Measured: measured}
	switch {
	case err != nil:
		r.Error = err.Error()
	case !passed:
		r.Error = "not as it should be: " + filepath.Join(c.out, fmt.Sprintf("check-%d.json", g.number))
	}
	return r
}

func (c *checker) prepare(ctx context.Context, scratch string) (err error) {
	if c.device != "cuda" && c.device != "sim" {
		return cli.Usagef("--device %q: want cuda or sim", c.device)
	}
	compiler, err := compiler()
	if err != nil {
		return err
	}
	if c.out, err = filepath.Abs(c.out); err != nil {
		return err
	}
	if err := os.MkdirAll(c.out, 0o755); err != nil {
		return err
	}
	if c.self, err = os.Executable(); err != nil {
		return err
	}
	if c.lib, err = hook.Build(ctx, compiler); err != nil {
		return err
	}
	c.environ = os.Environ()
	if c.device == "sim" {
		built, err := simcuda.Build(ctx, compiler)
		if err != nil {
			return err
		}
		c.workload = built.Workload
		c.environ = append(c.environ, simcuda.Device{File: filepath.Join(scratch, "device"), CountsFile: filepath.Join(scratch, "counts")}.Env(built)...)
		return nil
	}
	if c.script, err = gpu.WriteChecks(filepath.Join(compiler.Cache, "gpu")); err != nil {
		return err
	}
	c.python, err = exec.LookPath("python3")
	return err
}

// command runs a program to its end and returns its two outputs.
func (c *checker) command(ctx context.Context, env []string, args ...string) (stdout, stderr []byte, err error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(slices.Clone(c.environ), env...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err = cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		err = fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, lines[len(lines)-1])
	}
	return out.Bytes(), errs.Bytes(), err
}

// last decodes the last line that is a JSON object.
func last(text []byte, into any) error {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	for _, line := range slices.Backward(lines) {
		if bytes.HasPrefix(line, []byte("{")) {
			return json.Unmarshal(line, into)
		}
	}
	return errors.New("the program printed no count")
}

// seen is what the hook and another counter made of one kind of work.
type seen struct {
	Kind    string `json:"kind"`
	Hook    uint64 `json:"hook"`    // launches, those into captures included
	Counted uint64 `json:"counted"` // by PyTorch's profiler, or the simulated driver
	Error   string `json:"error,omitempty"`
}

func (c *checker) launches(ctx context.Context) (any, bool, error) {
	var all []seen
	passed := true
	kinds := []string{"eager", "compiled", "graph", "cublas", "cudnn"}
	if c.device == "sim" {
		kinds = []string{"eager", "graph"}
	}
	for _, kind := range kinds {
		s, err := c.see(ctx, kind)
		if err != nil {
			s.Error = err.Error()
		}
		passed = passed && err == nil && s.Hook == s.Counted && s.Counted > 0
		all = append(all, s)
	}
	return all, passed, ctx.Err()
}

func (c *checker) see(ctx context.Context, kind string) (seen, error) {
	s := seen{Kind: kind}
	program := []string{c.python, c.script, "launches", kind}
	counts := ""
	if c.device == "sim" {
		counts = filepath.Join(c.out, "counts-"+kind)
		_ = os.Remove(counts)
		program = []string{c.workload, "--kernels", "100", "--kernel-ns", "10000", "--jobs", "5"}
		if kind == "graph" {
			program = append(program, "--graph-kernels", "50")
		}
	}
	stdout, stderr, err := c.command(ctx, []string{"SIMCUDA_COUNTS=" + counts}, append([]string{c.self, "doctor", "--json", "--"}, program...)...)
	if err != nil {
		return s, err
	}
	var saw struct {
		Launches  uint64
		Processes []struct{ Captured uint64 }
	}
	if err := json.Unmarshal(stdout, &saw); err != nil {
		return s, err
	}
	s.Hook = saw.Launches
	for _, p := range saw.Processes {
		s.Hook += p.Captured
	}
	if counts != "" {
		if stderr, err = os.ReadFile(counts); err != nil {
			return s, err
		}
		defer os.Remove(counts)
	}
	var counted struct{ Launches uint64 }
	err = last(stderr, &counted)
	s.Counted = counted.Launches
	return s, err
}

// cost times the same work without and with the hook, in turn.
func (c *checker) cost(ctx context.Context) (any, bool, error) {
	var without, with float64
	const rounds = 3
	for range rounds {
		for _, sum := range []*float64{&without, &with} {
			var env []string
			if sum == &with {
				env = []string{hook.Preload(c.lib, "")}
			}
			ms, err := c.loop(ctx, env)
			if err != nil {
				return nil, false, err
			}
			*sum += ms / rounds
		}
	}
	return map[string]float64{"without_ms": without, "with_ms": with, "ratio": with / without}, with/without <= 1.01, nil
}

// loop is the mean time of a job.
func (c *checker) loop(ctx context.Context, env []string) (float64, error) {
	if c.device == "cuda" {
		out, _, err := c.command(ctx, env, c.python, c.script, "loop", strconv.Itoa(c.seconds))
		if err != nil {
			return 0, err
		}
		return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	}
	csv := filepath.Join(c.out, "loop.csv")
	defer os.Remove(csv)
	if _, _, err := c.command(ctx, env, c.workload, "--kernels", "200", "--kernel-ns", "20000", "--jobs", "100", "--csv", csv); err != nil {
		return 0, err
	}
	log, err := report.LoadLog(csv)
	if err != nil {
		return 0, err
	}
	sum, err := report.Summarize(log.Times())
	return sum.P50, err
}

// pair writes the experiment of two jobs.
func (c *checker) pair() (string, error) {
	text := gpu.Pair()
	if c.device == "sim" {
		text = []byte(`{"models": [
{"model_name": "A", "kernels": 400, "kernel_ns": 100000, "output_file_name": "model_A"},
{"model_name": "B", "kernels": 100, "kernel_ns": 50000, "priority": 1, "sleep_time": 0.05, "output_file_name": "model_B"}], "exp_dur": 5}`)
	}
	path := filepath.Join(c.out, "pair.json")
	return path, os.WriteFile(path, text, 0o644)
}

// play runs the pair by a command of deft, and returns the models by name.
func (c *checker) play(ctx context.Context, name string, args ...string) (map[string]report.Model, error) {
	path, err := c.pair()
	if err != nil {
		return nil, err
	}
	args = append([]string{c.self}, append(args, "-f", path, "--device", c.device, "--out", filepath.Join(c.out, name), "--duration", fmt.Sprintf("%ds", c.seconds), "--json")...)
	stdout, _, err := c.command(ctx, nil, args...)
	var run report.Run
	if jsonErr := json.Unmarshal(stdout, &run); jsonErr != nil {
		return nil, errors.Join(err, jsonErr)
	}
	models := map[string]report.Model{}
	for _, m := range run.Models {
		models[m.Output] = m
	}
	return models, err
}

// urgent runs the pair alone, uncontrolled, under MPS where there is one, and
// under the policies.
func (c *checker) urgent(ctx context.Context) (any, bool, error) {
	alone, err := c.play(ctx, "alone", "alone")
	if err != nil {
		return nil, false, err
	}
	inflation := map[string]map[string]float64{}
	note := func(name string, models map[string]report.Model) {
		inflation[name] = map[string]float64{}
		for output, m := range models {
			inflation[name][output] = m.JCT.Mean/alone[output].JCT.Mean - 1
		}
	}
	for _, policy := range []string{"none", "priority", "auto"} {
		models, err := c.play(ctx, policy, "run", "--policy", policy)
		if err != nil {
			return inflation, false, err
		}
		note(policy, models)
	}
	if mps, err := exec.LookPath("nvidia-cuda-mps-control"); err == nil && c.device == "cuda" {
		if _, _, err := c.command(ctx, nil, mps, "-d"); err == nil {
			models, err := c.play(ctx, "mps", "run", "--policy", "none")
			if err == nil {
				note("mps", models)
			}
			_, _, _ = c.command(ctx, nil, "sh", "-c", "echo quit | "+mps)
		}
	}
	return inflation, inflation["priority"]["model_B"] <= inflation["none"]["model_B"], nil
}

// death kills the low job of a pair in the middle.
func (c *checker) death(ctx context.Context) (any, bool, error) {
	path, err := c.pair()
	if err != nil {
		return nil, false, err
	}
	cmd := exec.CommandContext(ctx, c.self, "run", "-f", path, "--device", c.device, "--policy", "priority",
		"--out", filepath.Join(c.out, "death"), "--duration", fmt.Sprintf("%ds", c.seconds), "--json")
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = c.environ, &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return nil, false, err
	}
	ended := make(chan error, 1)
	crash.Go(func() { ended <- cmd.Wait() })
	victim, err := c.victim(ctx, cmd.Process.Pid, filepath.Join(c.out, "death", "model_A.csv"), ended)
	if err != nil {
		return nil, false, errors.Join(err, cmd.Process.Kill())
	}
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		return nil, false, err
	}
	err = <-ended
	var run report.Run
	if jsonErr := json.Unmarshal(stdout.Bytes(), &run); jsonErr != nil {
		return nil, false, errors.Join(err, jsonErr)
	}
	jobs := 0
	for _, m := range run.Models {
		if m.Output == "model_B" {
			jobs = m.Jobs
		}
	}
	named := strings.Contains(stderr.String(), "model_A")
	return map[string]any{"jobs_of_the_other": jobs, "exit": fmt.Sprint(err), "names_the_dead": named}, err != nil && named && jobs >= 10, nil
}

// victim waits for the low job's process to have done two jobs.
func (c *checker) victim(ctx context.Context, parent int, csv string, ended <-chan error) (int, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return 0, fmt.Errorf("the run ended before its job could be killed: %w", err)
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
		log, err := report.LoadLog(csv)
		if err != nil || len(log.Times()) < 2 {
			continue
		}
		stats, err := filepath.Glob("/proc/[0-9]*/stat")
		if err != nil {
			return 0, err
		}
		for _, stat := range stats {
			text, _ := os.ReadFile(stat)
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(stat), "cmdline"))
			_, rest, _ := strings.Cut(string(text), ") ")
			if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(parent) && bytes.Contains(args, []byte("model_A")) {
				return strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			}
		}
	}
}

func (c *checker) workers(ctx context.Context) (any, bool, error) {
	if c.device == "sim" {
		return nil, false, fmt.Errorf("%w: needs PyTorch on a GPU", errSkipped)
	}
	out, _, err := c.command(ctx, []string{hook.Preload(c.lib, "")}, c.python, c.script, "loader")
	text := strings.TrimSpace(string(out))
	return text, text == "batches 32", err
}

func (c *checker) layouts(ctx context.Context) (any, bool, error) {
	headers, err := filepath.Glob("/usr/local/cuda*/include/cuda.h")
	if err != nil || len(headers) == 0 {
		return nil, false, fmt.Errorf("%w: no /usr/local/cuda*/include/cuda.h", errSkipped)
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		return nil, false, fmt.Errorf("%w: no cc", errSkipped)
	}
	source := filepath.Join(c.out, "layout_check.c")
	text, err := simcuda.Sources().Open("layout_check.c")
	if err != nil {
		return nil, false, err
	}
	defer text.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(text); err != nil {
		return nil, false, err
	}
	if err := os.WriteFile(source, body.Bytes(), 0o644); err != nil {
		return nil, false, err
	}
	_, stderr, err := c.command(ctx, nil, cc, "-fsyntax-only", "-I"+filepath.Dir(headers[0]), source)
	return map[string]string{"header": headers[0], "output": string(stderr)}, err == nil, nil
}
