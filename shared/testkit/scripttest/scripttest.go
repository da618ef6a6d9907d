package scripttest

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
)

var update = flag.Bool("update", false, "write what commands print into the scripts")

// Main runs the package's tests, with the command as a program that scripts can
// start by name, together with others (nil for none), and exits.
func Main(m *testing.M, name string, root func(*cli.Env) *cobra.Command, others map[string]func()) {
	programs := map[string]func(){name: func() { cli.Main(onMachine(root)) }}
	for other, run := range others {
		programs[other] = run
	}
	testscript.Main(stateless{m}, programs)
}

// machine is the variable with the directory whose proc, sys and etc the command
// reads.
const machine = "SCRIPTTEST_MACHINE"

// onMachine returns root with the file system of SCRIPTTEST_MACHINE, if it is set.
func onMachine(root func(*cli.Env) *cobra.Command) func(*cli.Env) *cobra.Command {
	return func(env *cli.Env) *cobra.Command {
		if dir := os.Getenv(machine); dir != "" {
			env.Root = os.DirFS(dir)
		}
		return root(env)
	}
}

// stateless runs tests without access to the user's own state.
type stateless struct{ m *testing.M }

func (s stateless) Run() int {
	if signal.Ignored(syscall.SIGHUP) { // under nohup, programs of scripts would ignore the signal too
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	dir, err := os.MkdirTemp("", "state-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("XDG_STATE_HOME", dir); err != nil {
		panic(err)
	}
	return s.m.Run()
}

// Run runs the scripts of testdata/script, or of p.Dir or p.Files if set. The other
// fields of p are kept.
func Run(t *testing.T, p testscript.Params) {
	if p.Dir == "" && len(p.Files) == 0 {
		p.Dir = filepath.Join("testdata", "script")
	}
	p.UpdateScripts = p.UpdateScripts || *update
	p.Cmds = with(p.Cmds)
	setup, condition := p.Setup, p.Condition
	p.Setup = func(env *testscript.Env) error {
		env.Setenv("HOME", env.WorkDir)
		env.Setenv("FORETIME_DATA", os.Getenv("FORETIME_DATA"))
		env.Setenv("GORACE", "atexit_sleep_ms=0") // the default sleeps a second per process
		if setup == nil {
			return nil
		}
		return setup(env)
	}
	p.Condition = func(name string) (bool, error) {
		if condition != nil {
			if ok, err := condition(name); err == nil {
				return ok, nil
			}
		}
		return conditionHolds(name), nil
	}
	testscript.Run(t, p)
}

type command = func(*testscript.TestScript, bool, []string)

func with(own map[string]command) map[string]command {
	all := map[string]command{"code": code, "interrupt": interrupt}
	for name, run := range own {
		all[name] = run
	}
	return all
}

// code is the script command: code N PROGRAM [ARG...].
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [arg...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ended with exit code %d, want %d", args[1], got, want)
	}
}

// conditionHolds reports whether a condition of scripts holds here.
func conditionHolds(condition string) bool {
	switch condition {
	case "data":
		return os.Getenv("FORETIME_DATA") != ""
	case "race":
		return raceDetector()
	}
	_, err := exec.LookPath(condition)
	return err == nil
}

// raceDetector reports whether this binary was built with the race detector.
func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-race" && s.Value == "true" })
}
