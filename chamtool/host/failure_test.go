package host_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/foretime/foretime/chamtool/host"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/task"
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
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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
	_, stderr := output(t, []string{"CHAMTOOL_VERBOSE=1", "TIME2TRAIN=1"}, small...)
	for _, want := range []string{
		"chamtool: rank 0 of 1, upstream interface", "CHAMTOOL_RING_SLOTS=16384 (default)", "TIME2TRAIN=1 (environment)",
		"TASKS_PER_RANK= (default)", "180 tasks, ",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in:\n%s", want, stderr)
		}
	}
}

func TestAbsurdVariables(t *testing.T) {
	dir, stderr := output(t, []string{
		"CHAMTOOL_RING_SLOTS=-7", "EST_NUM_ITERS=NaN", "CHAMTOOL_LOG_MEGABYTES=\xff\xfe", "CHAMTOOL_CALIBRATE=maybe", "TASKS_PER_RANK=,,",
		"TIME2TRAIN=99999999999999999999", "CHAMTOOL_BALANCE=" + strings.Repeat("x", 4096), "CHAMTOOL_LOG_FORMAT=csv,csv,xml",
	}, small...)
	for _, want := range []string{"CHAMTOOL_RING_SLOTS", "EST_NUM_ITERS", "CHAMTOOL_CALIBRATE", "TIME2TRAIN"} {
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
		if !strings.Contains(stderr, "no log: ") || !strings.Contains(stderr, "180 tasks, ") {
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
	if err := os.WriteFile(filepath.Join(logs, ".chamtool_job"), []byte("job-7-0"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Env = append(r.Env, "SLURM_JOB_ID=7", "SLURM_STEP_ID=0", "SLURM_PROCID=0", "PMIX_NAMESPACE=") // whose folder it is
	run(t, p, r)
	s := readSummary(t, r, 0)
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

// A callback that the library does not offer is told, and the rest works.
func TestRefusedCallback(t *testing.T) {
	_, stderr := output(t, []string{"CHAMTOOL_VERBOSE=1", "HOST_REFUSE=7"}, small...)
	if !strings.Contains(stderr, "callback 7 is not offered") || !strings.Contains(stderr, "180 tasks, ") {
		t.Error(stderr)
	}
}

// A rank that dies keeps what it had flushed.
func TestDeath(t *testing.T) {
	tool, p := need(t)
	for _, death := range []string{"term", "kill", "exit", "segv"} {
		t.Run(death, func(t *testing.T) {
			r := in(t, tool, small...)
			r.Env = append(r.Env, "HOST_DEATH="+death, "HOST_AWAIT=logs/chamtool_rank_0.csv")
			_, _, err := p.Output(t.Context(), r)
			if (err == nil) != (death == "exit") {
				t.Errorf("the host ended with %v", err)
			}
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Errorf("%v", err)
			}
			log, err := task.Scan(t.Context(), filepath.Join(r.Dir, "logs", "chamtool_rank_0.csv"), task.Options{Format: task.FormatCSV})
			if err != nil || len(log.Rows) < 60 {
				t.Errorf("the log keeps %v (%v)", log, err)
			}
			if death == "term" { // which the tool hears in time
				if s := readSummary(t, r, 0); s.Ended < 120 || s.Predicted == 0 {
					t.Errorf("the summary keeps %+v", s)
				}
				if models, _ := filepath.Glob(filepath.Join(r.Dir, "home", "models", "*.runs")); len(models) != 1 {
					t.Errorf("kept models: %v", models)
				}
			}
		})
	}
}

func TestOneIterationAndNone(t *testing.T) {
	tool, p := need(t)
	for _, tt := range []struct {
		threads, tasks, iterations string
		ended                      uint64
		iterated                   int
	}{{"2", "3", "1", 3, 1}, {"2", "3", "0", 0, 0}, {"1", "0", "2", 0, 2}} {
		r := in(t, tool, "--threads", tt.threads, "--tasks", tt.tasks, "--iterations", tt.iterations)
		did, s := run(t, p, r)[0], readSummary(t, r, 0)
		if did.Ended != tt.ended || s.Ended != tt.ended || s.Iterations != tt.iterated || s.Predicted != 0 || s.MAPE != nil || len(s.Warnings) > 0 {
			t.Errorf("%+v: the host did %+v, the tool says %+v", tt, did, s)
		}
		if log := lines(t, filepath.Join(r.Dir, "logs", "chamtool_rank_0.csv")); len(log) != int(tt.ended)+1 {
			t.Errorf("%+v: %d lines of log", tt, len(log))
		}
	}
}

func TestFork(t *testing.T) {
	_, stderr := output(t, []string{"CHAMTOOL_VERBOSE=1", "HOST_FORK=1"}, small...)
	if !strings.Contains(stderr, "180 tasks, ") {
		t.Error(stderr)
	}
}

// A second run knows from its first task on; a torn model file is set aside.
func TestKeptModels(t *testing.T) {
	tool, p := need(t)
	home := t.TempDir()
	model := filepath.Join(home, "models", hostName(t)+".runs")
	// unpredicted is how many runs had no prediction. A run that the clock cannot
	// tell the length of is neither learned from nor scored.
	again := func(env ...string) (unpredicted, warnings int) {
		// No task starts before the one before ended, and the times of the next program are those that
		// were kept, however busy the machine is: times that are not are dropped after seven tasks.
		r := in(t, tool, "--threads", "1", "--tasks", "60", "--iterations", "3", "--work", "spin", "--sizes", "100,200")
		r.Env = append(r.Env, append([]string{"CHAMTOOL_HOME=" + home}, env...)...)
		run(t, p, r)
		s := readSummary(t, r, 0)
		for _, w := range s.Warnings {
			if strings.Contains(w, "kept models are not used") {
				warnings++
			}
		}
		return int(s.Ended) - s.TooShort - s.Predicted, warnings
	}
	// isFirstTen allows for a reader that looks at the thread between two tasks: it sees the
	// eleventh start before the end of the tenth.
	isFirstTen := func(n int) bool { return n == 10 || n == 11 }
	if n, _ := again("CHAMTOOL_CALIBRATE=0"); !isFirstTen(n) {
		t.Errorf("first run: %d not predicted, want the first ten", n)
	}
	if _, err := os.Stat(model); err == nil {
		t.Error("CHAMTOOL_CALIBRATE=0 wrote a model")
	}
	again()
	if n, _ := again(); n != 0 {
		t.Errorf("second run: %d not predicted, want none", n)
	}
	if n, _ := again("CHAMTOOL_CALIBRATE=2"); !isFirstTen(n) {
		t.Errorf("run that starts anew: %d not predicted", n)
	}
	if err := os.WriteFile(model, []byte("chamtool runs 2\n\x01\x05"), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, warnings := again(); !isFirstTen(n) || warnings != 1 {
		t.Errorf("with a torn file: %d not predicted, %d warnings", n, warnings)
	}
	if _, err := os.Stat(model + ".bad"); err != nil {
		t.Error(err)
	}
	if n, warnings := again(); n != 0 || warnings != 0 {
		t.Errorf("after it: %d not predicted, %d warnings", n, warnings)
	}
}

// hostName returns the name under which the models of this host are kept.
func hostName(t *testing.T) string {
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// A process of another user of the host holds the lock of the kept models: the
// program ends all the same, and the next run takes in what this one learned.
func TestHeldLock(t *testing.T) {
	tool, p := need(t)
	r := in(t, tool, small...)
	models := filepath.Join(r.Dir, "home", "models")
	if err := os.MkdirAll(models, 0o755); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(models, hostName(t)+".runs")
	lock, err := os.Create(kept + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	run(t, p, r)
	if s := readSummary(t, r, 0); len(s.Warnings) != 0 {
		t.Errorf("warnings %v: what waits for the lock is not lost", s.Warnings)
	}
	left, _ := filepath.Glob(kept + ".private.*")
	if len(left) != 1 {
		t.Fatalf("handed over: %v", left)
	}
	first, err := perfmodel.ReadStore(left[0])
	if err != nil {
		t.Fatal(err)
	}
	lock.Close()
	run(t, p, r) // which takes in what the first one left
	if left, _ := filepath.Glob(kept + ".private.*"); len(left) != 0 {
		t.Errorf("not taken in: %v", left)
	}
	store, err := perfmodel.ReadStore(kept)
	if err != nil {
		t.Fatal(err)
	}
	if len(store.Names()) == 0 {
		t.Error("nothing is kept")
	}
	for _, key := range store.Names() {
		handed, runs := len(first.Runs(key)), store.Runs(key)
		if handed == 0 || handed >= len(runs) || !reflect.DeepEqual(runs[:handed], first.Runs(key)) {
			t.Errorf("%q: %d runs of the %d that were handed over, and the next program's", key, len(runs), handed)
		}
		if name, build := perfmodel.SplitKey(key); !strings.HasPrefix(name, "chamhost:host_") || len(build) != 16 {
			t.Errorf("%q of build %q", name, build)
		}
	}
}

// A program that changes its folder changes nothing for the tool.
func TestChangedFolder(t *testing.T) {
	tool, p := need(t)
	r := in(t, tool, small...)
	r.Env = append(r.Env, "HOST_CHDIR=/", "CHAMTOOL_LOG_FORMAT=csv", "CHAMTOOL_LOG_DIR=here", "CHAMTOOL_HOME=models-here")
	run(t, p, r)
	for _, name := range []string{"here/chamtool_rank_0.csv", "here/chamtool_summary_rank_0.json", "models-here/models"} {
		if _, err := os.Stat(filepath.Join(r.Dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// A second job in a folder leaves the first one's logs alone and says where its
// own are.
func TestSecondJob(t *testing.T) {
	tool, p := need(t)
	r := in(t, tool, small...)
	log := filepath.Join(r.Dir, "logs", "chamtool_rank_0.csv")
	run(t, p, r)
	before, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	r.Env = append(r.Env, "SLURM_JOB_ID=42", "SLURM_STEP_ID=1", "SLURM_PROCID=0", "PMIX_NAMESPACE=")
	_, stderr, err := p.Output(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(log)
	if err != nil || string(after) != string(before) {
		t.Errorf("the first log changed (%v)", err)
	}
	second := filepath.Join(r.Dir, "logs", "job-42-1")
	if n := len(lines(t, filepath.Join(second, "chamtool_rank_0.csv"))); n != 181 || !strings.Contains(stderr, "logs in "+second) {
		t.Errorf("%d lines in %s; the tool says %q", n, second, stderr)
	}
}

// Where there is no room for the Go runtime the tool says so and the program
// runs.
func TestLimitsOfMemory(t *testing.T) {
	tool, p := need(t)
	for _, limit := range []string{"-v 300000", "-v 1500000", "-d 60000", "-d 120000"} {
		r := in(t, tool, small...)
		limited := *p
		limited.Path = filepath.Join(t.TempDir(), "limited")
		script := "#!/bin/sh\nulimit " + limit + "\nexec " + p.Path + " \"$@\"\n"
		if err := os.WriteFile(limited.Path, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, err := limited.Output(t.Context(), r)
		if err != nil || !strings.Contains(stderr, "ulimit "+limit[:2]) || !strings.Contains(stdout, `"ended":180`) {
			t.Errorf("%s: %v\n%s%s", limit, err, stdout, stderr)
		}
	}
}

// A variable that the tool does not have is told.
func TestMistypedVariable(t *testing.T) {
	_, stderr := output(t, []string{"CHAMTOOL_MODLE=ridge"}, small...)
	if !strings.Contains(stderr, "CHAMTOOL_MODLE") || strings.Contains(stderr, "rank 0: rank 0") || !strings.Contains(stderr, "180 tasks") {
		t.Error(stderr)
	}
}

// A dialect that there is none of is refused, not run as another.
func TestUnknownDialect(t *testing.T) {
	tool, p := need(t)
	_, stderr, err := p.Output(t.Context(), in(t, tool, append([]string{"--dialect", "foo"}, small...)...))
	if err == nil || !strings.Contains(stderr+err.Error(), "--dialect: want upstream or patched") {
		t.Errorf("%v, %q", err, stderr)
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
		did := run(t, p, r)[0]
		if did.Trained != 1 || did.Predicted != tt.predicted {
			t.Errorf("mode %s: %+v", tt.mode, did)
		}
		// A forecast leaves the loads so far by a factor of e at most, a prediction the tasks' times
		// by one of ten. The host's times contain those of the log, and the waits of its threads.
		least, factor := leastSeconds(t, r, tt.mode == "3"), 2*math.E
		if tt.mode == "3" {
			factor = 11
		}
		if did.LeastPredicted < least/factor || did.MostPredicted > did.MostTold*factor {
			t.Errorf("mode %s: %v to %v s predicted, %v s logged to %v s told", tt.mode, did.LeastPredicted, did.MostPredicted, least, did.MostTold)
		}
	}
}

// leastSeconds returns the shortest time in the log of a run: of its tasks, or of
// its iterations' sums.
func leastSeconds(t *testing.T, r host.Run, tasks bool) float64 {
	t.Helper()
	log, err := task.Scan(t.Context(), filepath.Join(r.Dir, "logs", "chamtool_rank_0.csv"), task.Options{Format: task.FormatCSV})
	if err != nil {
		t.Fatal(err)
	}
	var seconds []float64
	for _, row := range log.Rows {
		switch {
		case tasks:
			seconds = append(seconds, row.Seconds)
		default:
			for len(seconds) <= row.Iteration {
				seconds = append(seconds, 0)
			}
			seconds[row.Iteration] += row.Seconds
		}
	}
	return slices.Min(seconds)
}
