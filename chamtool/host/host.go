package host

import (
	"bytes"
	"cmp"
	"context"
	"embed"
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
)

//go:embed src
var sources embed.FS

// ErrNoCompiler is returned if a needed compiler is not installed.
var ErrNoCompiler = errors.New("no compiler")

// ErrMPI is returned where ranks cannot be started as asked: the launcher does not run,
// or it belongs to another MPI than the compiler.
var ErrMPI = errors.New("mpirun")

// Options sets how the program is built. The zero value works.
type Options struct {
	MPI      bool   // compile with mpicc, for several ranks
	Sanitize string // "address" or "thread"; "" is none
	Source   string // of C, which includes host.c; "" is that alone
}

// Program is a built test program.
type Program struct {
	Path    string
	Patched bool // supports the patched dialect
}

// Build compiles the test program into dir, which may contain the result of an earlier Build
// with other options.
func Build(ctx context.Context, dir string, o Options) (*Program, error) {
	cc := "gcc"
	if o.MPI {
		cc = "mpicc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNoCompiler, cc, err)
	}
	src := filepath.Join(dir, "src")
	if err := os.CopyFS(dir, sources); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	p := &Program{Path: filepath.Join(dir, "chamhost")}
	flags := []string{"-O2", "-g", "-Wall"}
	if o.Sanitize != "" {
		flags = append(flags, "-fsanitize="+o.Sanitize)
	}
	args := slices.Concat(flags, []string{"-std=gnu11", "-rdynamic", "-o", p.Path, "-I", src, cmp.Or(o.Source, filepath.Join(src, "host.c"))})
	if o.MPI {
		args = append(args, "-DHOST_MPI")
	}
	if _, err := exec.LookPath("g++"); err == nil {
		object := filepath.Join(src, "patched.o")
		if err := compile(ctx, "g++", slices.Concat(flags, []string{"-c", "-o", object, filepath.Join(src, "patched.cpp")})...); err != nil {
			return nil, err
		}
		args = append(args, "-DHOST_PATCHED", object, "-lstdc++")
		p.Patched = true
	}
	return p, compile(ctx, cc, append(args, "-ldl", "-lpthread")...)
}

func compile(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // and the compiler's own processes
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(out))
	}
	return nil
}

// Run describes a run of the program.
type Run struct {
	Tool  string   // path of the tool; "" runs without one
	Older bool     // name the tool in CHAM_TOOL_DIR instead of CHAMELEON_TOOL_LIBRARIES
	Ranks int      // number of ranks under MPI; 0 is one process without mpirun
	Args  []string // arguments of the program, listed by its --options
	Env   []string // further NAME=VALUE
	Dir   string   // working directory; "" is the caller's
}

// Rank holds the program's counts of one rank.
type Rank struct {
	Rank           int     `json:"rank"`
	Ranks          int     `json:"ranks"`
	Tool           bool    `json:"tool"` // a tool was found and stayed
	Created        uint64  `json:"created"`
	Started        uint64  `json:"started"`
	Ended          uint64  `json:"ended"`
	Remote         uint64  `json:"remote"`
	Moved          uint64  `json:"moved"`
	Loads          uint64  `json:"loads"`
	Trained        uint64  `json:"trained"`
	Predicted      uint64  `json:"predicted"`
	LeastPredicted float64 `json:"least_predicted"` // of the predictions that it received for iterations or tasks, in seconds; patched dialect
	MostPredicted  float64 `json:"most_predicted"`
	MostTold       float64 `json:"most_told"` // the greatest load of an iteration that it told, in seconds; patched dialect
	Waits          uint64  `json:"waits"`
	LoadsReported  uint64  `json:"told"` // of iterations, patched dialect
	Seconds        float64 `json:"seconds"`
	CPUSeconds     float64 `json:"cpu_seconds"`
	ToolCPU        float64 `json:"tool_cpu_seconds"` // of threads that the program did not start (MPI's included), and of the tool's start and end; without callbacks
}

// Output runs the program and returns its stdout and stderr.
func (p *Program) Output(ctx context.Context, r Run) (stdout, stderr string, err error) {
	argv := append([]string{p.Path}, r.Args...)
	if r.Ranks > 0 {
		mpirun, err := launch(ctx, r.Ranks)
		if err != nil {
			return "", "", err
		}
		argv = append(mpirun, argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = r.Dir
	cmd.Env = append(cmd.Environ(), "CHAMELEON_TOOL_LIBRARIES=", "CHAM_TOOL_DIR=", "CHAMELEON_TOOL=")
	switch {
	case r.Tool != "" && r.Older:
		cmd.Env = append(cmd.Env, "CHAM_TOOL_DIR="+r.Tool)
	case r.Tool != "":
		cmd.Env = append(cmd.Env, "CHAMELEON_TOOL_LIBRARIES="+r.Tool)
	}
	cmd.Env = append(cmd.Env, r.Env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, tail(errs.String()))
	} else if r.Ranks > 0 {
		err = together(out.String(), r.Ranks)
	}
	return out.String(), errs.String(), err
}

func tail(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "; ")
}

// launch returns the command line that starts a number of ranks on this machine, for any user
// and any number of cores. Open MPI refuses root and more ranks than cores unless an option
// allows them; Hydra, the launcher of MPICH and Intel MPI, refuses neither and ends at an
// unknown option.
func launch(ctx context.Context, ranks int) ([]string, error) {
	out, err := exec.CommandContext(ctx, "mpirun", "--version").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w --version: %w: %s", ErrMPI, err, tail(string(out)))
	}
	argv := []string{"mpirun"}
	if openMPI(string(out)) {
		argv = append(argv, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none")
	}
	return append(argv, "-n", strconv.Itoa(ranks)), nil
}

// openMPI says whether a launcher's --version is Open MPI's: 4 names OpenRTE, 5 names
// Open MPI or PRRTE.
func openMPI(version string) bool {
	return slices.ContainsFunc([]string{"Open MPI", "OpenRTE", "PRRTE"}, func(name string) bool { return strings.Contains(version, name) })
}

// together returns an error where a rank counts itself as one of fewer than were started:
// a launcher starts the programs of another MPI as so many jobs of one rank.
func together(stdout string, ranks int) error {
	for dec := json.NewDecoder(strings.NewReader(stdout)); dec.More(); {
		var r Rank
		if err := dec.Decode(&r); err != nil {
			return fmt.Errorf("cannot read the program's output: %w", err)
		}
		if r.Ranks > 0 && r.Ranks != ranks {
			return fmt.Errorf("%w: started %d ranks, but a rank reports %d: mpirun and mpicc belong to different MPIs", ErrMPI, ranks, r.Ranks)
		}
	}
	return nil
}
