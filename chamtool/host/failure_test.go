package host_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/chamtool/tasklog"
)

// small is a short run of the library's shape.
var small = []string{"--threads", "2", "--tasks", "60", "--iterations", "3", "--sizes", "8,16"}

// output runs the host and returns what it wrote to stderr; the host itself
// must succeed.
func output(t *testing.T, env []string, args ...string) (dir, stderr string) {
	t.Helper()
	tool, p := need(t)
	r := in(t, tool, args...)
	r.Env = append(r.Env, env...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stdout, stderr, err := p.Output(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stdout, `"ended":`) {
		t.Errorf("the host says %q", stdout)
	}
	return r.Dir, stderr
}

func TestVerbosePrintsTheConfiguration(t *testing.T) {
	_, stderr := output(t, []string{"CHAMTOOL_VERBOSE=1", "CHAMTOOL_DRAIN_SECONDS=0.01"}, small...)
	for _, want := range []string{
		"chamtool: rank 0 of 1, upstream interface", "CHAMTOOL_RING_SLOTS=16384 (default)", "CHAMTOOL_DRAIN_SECONDS=0.01 (environment)",
		"TASKS_PER_RANK= (default)", "180 tasks created, 180 ended",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in:\n%s", want, stderr)
		}
	}
}

func TestAbsurdVariables(t *testing.T) {
	dir, stderr := output(t, []string{
		"CHAMTOOL_RING_SLOTS=-7", "CHAMTOOL_DRAIN_SECONDS=NaN", "CHAMTOOL_MODEL=\xff\xfe", "CHAMTOOL_CALIBRATE=maybe", "TASKS_PER_RANK=,,",
		"TIME2TRAIN=99999999999999999999", "CHAMTOOL_MLP=/nonesuch", "CHAMTOOL_BALANCE=" + strings.Repeat("x", 4096), "CHAMTOOL_LOG_FORMAT=csv,csv,xml",
	}, small...)
	for _, want := range []string{"CHAMTOOL_RING_SLOTS", "CHAMTOOL_DRAIN_SECONDS", "CHAMTOOL_CALIBRATE", "TIME2TRAIN", "/nonesuch"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no warning about %s:\n%s", want, stderr)
		}
	}
	if n := len(lines(t, filepath.Join(dir, "logs", "chamtool_rank_0.csv"))); n != 181 {
		t.Errorf("%d lines of log", n)
	}
}

// A log folder that is a file, and one below a read-only place: no log, no harm.
func TestUnwritableLogFolder(t *testing.T) {
	for _, folder := range []string{"/dev/null/logs", "/proc/logs"} {
		_, stderr := output(t, []string{"CHAMTOOL_LOG_DIR=" + folder, "CHAMTOOL_VERBOSE=1"}, small...)
		if !strings.Contains(stderr, "no log: ") || !strings.Contains(stderr, "180 ended") {
			t.Errorf("%s:\n%s", folder, stderr)
		}
	}
}

// /dev/full is a disk without room.
func TestFullDisk(t *testing.T) {
	tool, p := need(t)
	r := in(t, tool, small...)
	logs := filepath.Join(r.Dir, "logs")
	if err := os.Mkdir(logs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", filepath.Join(logs, "chamtool_rank_0.csv")); err != nil {
		t.Fatal(err)
	}
	run(t, p, r)
	s := summary(t, r, 0)
	if s.Ended != 180 || s.RowsLost != 180 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "no space left") {
		t.Errorf("%d ended, %d rows lost, warnings %v", s.Ended, s.RowsLost, s.Warnings)
	}
}

func TestSwitchedOff(t *testing.T) {
	tool, p := need(t)
	for _, value := range []string{"0", "disabled"} {
		r := in(t, tool, small...)
		r.Env = append(r.Env, "CHAMELEON_TOOL="+value)
		if did := run(t, p, r)[0]; did.Tool || did.Ended != 180 {
			t.Errorf("%+v", did)
		}
		if _, err := os.Stat(filepath.Join(r.Dir, "logs")); err == nil {
			t.Error("a tool that is off writes logs")
		}
	}
}

func TestOlderVariable(t *testing.T) {
	tool, p := need(t)
	r := in(t, tool, small...)
	r.Older = true
	if did := run(t, p, r)[0]; !did.Tool {
		t.Errorf("CHAM_TOOL_DIR is not honoured: %+v", did)
	}
}

// The patched library and a tool that does not speak its interface: the tool
// declines, the program runs.
func TestDeclines(t *testing.T) {
	_, p := need(t)
	if !p.Patched {
		t.Skip("needs g++: install with apt-get install g++")
	}
	upstream := filepath.Join(t.TempDir(), "libtool.so") // the C side, built as without a C++ compiler
	compile(t, "", "gcc", "-shared", "-fPIC", "-std=gnu11", "-o", upstream, "../cmd/libchamtool/tool.c", "../cmd/libchamtool/testdata/consumer.c", "-ldl", "-lpthread")
	if did := run(t, p, in(t, upstream, append([]string{"--dialect", "patched"}, small...)...))[0]; did.Tool || did.Ended != 180 {
		t.Errorf("%+v", did)
	}
}

// A callback that the library does not offer is told, and the rest works.
func TestRefusedCallback(t *testing.T) {
	_, stderr := output(t, []string{"CHAMTOOL_VERBOSE=1"}, append([]string{"--refuse", "7"}, small...)...)
	if !strings.Contains(stderr, "callback 7 is not offered") || !strings.Contains(stderr, "180 ended") {
		t.Error(stderr)
	}
}

// A rank that dies keeps what it had flushed.
func TestDeath(t *testing.T) {
	tool, p := need(t)
	for _, death := range []string{"term", "kill", "exit", "segv"} {
		t.Run(death, func(t *testing.T) {
			r := in(t, tool, append([]string{"--death", death, "--death-at", "1"}, small...)...)
			r.Env = append(r.Env, "CHAMTOOL_FLUSH_SECONDS=0.02", "CHAMTOOL_DRAIN_SECONDS=0.005")
			_, _, err := p.Output(t.Context(), r)
			if (err == nil) != (death == "exit") {
				t.Errorf("the host ended with %v", err)
			}
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Errorf("%v", err)
			}
			log, err := tasklog.Load(filepath.Join(r.Dir, "logs", "chamtool_rank_0.csv"), tasklog.FormatCSV)
			if err != nil || len(log.Rows) < 60 {
				t.Errorf("the log keeps %v (%v)", log, err)
			}
		})
	}
}

func TestOneIterationAndNone(t *testing.T) {
	for _, n := range []string{"1", "0"} {
		output(t, nil, "--threads", "2", "--tasks", "3", "--iterations", n)
	}
	output(t, nil, "--threads", "1", "--tasks", "0", "--iterations", "2")
}

func TestFork(t *testing.T) {
	_, stderr := output(t, []string{"CHAMTOOL_VERBOSE=1"}, append([]string{"--fork"}, small...)...)
	if !strings.Contains(stderr, "180 ended") {
		t.Error(stderr)
	}
}

// A second run knows from its first task on; a torn model file is set aside.
func TestKeptModels(t *testing.T) {
	tool, p := need(t)
	home := t.TempDir()
	model := filepath.Join(home, "models", "here.runs")
	again := func(env ...string) (predicted, warnings int) {
		r := in(t, tool, small...)
		r.Env = append(r.Env, append([]string{"CHAMTOOL_HOME=" + home, "CHAMTOOL_HOSTNAME=here"}, env...)...)
		run(t, p, r)
		s := summary(t, r, 0)
		return s.Predicted, len(s.Warnings)
	}
	if n, _ := again("CHAMTOOL_CALIBRATE=0"); n != 170 {
		t.Errorf("first run: %d predicted", n)
	}
	if _, err := os.Stat(model); err == nil {
		t.Error("CHAMTOOL_CALIBRATE=0 wrote a model")
	}
	again()
	if n, _ := again(); n != 180 {
		t.Errorf("second run: %d predicted, want all", n)
	}
	if n, _ := again("CHAMTOOL_CALIBRATE=2"); n != 170 {
		t.Errorf("run that starts anew: %d predicted", n)
	}
	if err := os.WriteFile(model, []byte("chamtool runs 2\n\x01\x05"), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, warnings := again(); n != 170 || warnings != 1 {
		t.Errorf("with a torn file: %d predicted, %d warnings", n, warnings)
	}
	if _, err := os.Stat(model + ".bad"); err != nil {
		t.Error(err)
	}
	if n, warnings := again(); n != 180 || warnings != 0 {
		t.Errorf("after it: %d predicted, %d warnings", n, warnings)
	}
}

func TestParquet(t *testing.T) {
	dir, _ := output(t, []string{"CHAMTOOL_LOG_FORMAT=parquet"}, small...)
	if info, err := os.Stat(filepath.Join(dir, "logs", "chamtool_rank_0.parquet")); err != nil || info.Size() == 0 {
		t.Error(err)
	}
}

// The patched library's modes get values that a host can use.
func TestPatchedPredictions(t *testing.T) {
	tool, p := need(t)
	if !p.Patched {
		t.Skip("needs g++: install with apt-get install g++")
	}
	for _, tt := range []struct {
		mode      string
		predicted uint64
	}{{"1", 4}, {"2", 4 * 30}, {"3", 4 * 60}} {
		r := in(t, tool, "--threads", "2", "--tasks", "60", "--iterations", "8", "--sizes", "8,16", "--dialect", "patched", "--mode", tt.mode, "--train", "3")
		r.Env = append(r.Env, "EST_NUM_ITERS=30")
		if did := run(t, p, r)[0]; did.Trained != 1 || did.Predicted != tt.predicted {
			t.Errorf("mode %s: %+v", tt.mode, did)
		}
	}
}
