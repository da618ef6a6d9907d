package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/timing"
)

// job returns the command that makes the test binary play a job, and a mark in
// its environment by which its processes are found.
func job(t *testing.T, name string) (Command, string) {
	t.Helper()
	if hostile[name] == nil {
		t.Fatalf("no job %q", name)
	}
	mark := fmt.Sprintf("FORETIME_TEST_MARK=%d-%d", os.Getpid(), time.Now().UnixNano())
	return Command{
		Args:    []string{"/proc/self/exe", "-test.run=^$"},
		Dir:     t.TempDir(),
		Env:     append(os.Environ(), "FORETIME_TEST_JOB="+name, "FORETIME_TEST_CHILDREN=200", "GORACE=atexit_sleep_ms=0", mark),
		Timeout: 10 * time.Minute,
	}, mark
}

// marked returns the processes that carry a mark.
func marked(t *testing.T, mark string) []string {
	t.Helper()
	var found []string
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(mark)) {
			found = append(found, path)
		}
	}
	return found
}

func TestRunHostileJobs(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	laps := []float64{0.1, 0.2, 0.3}
	tests := []struct {
		job     string
		timeout time.Duration // in place of ten minutes
		err     error         // of the run
		exit    *ExitError
		out     error // of its report
		laps    []float64
		left    bool // processes outlive it
	}{
		{job: "good", laps: laps},
		{job: "exit 3", exit: &ExitError{Code: 3}, out: timing.ErrNoTag},
		{job: "segmentation fault", exit: &ExitError{Code: -1, Signal: syscall.SIGSEGV}, out: timing.ErrNoTag},
		{job: "hang", timeout: 300 * time.Millisecond, err: ErrTimeout, out: timing.ErrNoTag},
		{job: "ignores TERM", timeout: 300 * time.Millisecond, err: ErrTimeout, out: timing.ErrNoTag},
		{job: "escapes and hangs", timeout: time.Second, err: ErrTimeout, out: timing.ErrNoTag},
		{job: "prints much", laps: laps},
		{job: "one endless line", laps: laps},
		{job: "binary garbage", laps: laps},
		{job: "no newline", laps: laps},
		{job: "no report", out: timing.ErrNoTag},
		{job: "report in pieces", laps: laps},
		{job: "report on stderr", laps: laps},
		{job: "forged second report", out: timing.ErrContradiction},
		{job: "nan", out: timing.ErrBadValue},
		{job: "torn report", out: timing.ErrTruncated},
		{job: "child holds stdout", laps: laps, left: true},
		{job: "child escapes", laps: laps, left: true},
		{job: "orphan escapes", laps: laps, left: true},
		{job: "many children", laps: laps, left: true},
		{job: "deletes its folder", laps: laps},
	}
	r := New(Settings{Scratch: t.TempDir()})
	for _, tt := range tests {
		t.Run(tt.job, func(t *testing.T) {
			c, mark := job(t, tt.job)
			c.Args[0] = exe
			if tt.timeout > 0 {
				c.Timeout = tt.timeout
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res, err := r.Run(t.Context(), c)
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v of wall time, %v after it", res.Wall, time.Since(res.Start)-res.Wall)
			if left := marked(t, mark); len(left) > 0 {
				t.Errorf("processes left: %v", left)
			}
			// The output may be 128 MiB. Each reading of a job's processes allocates too.
			readings := 64 * res.Wall.Seconds()
			if grown := float64(after.TotalAlloc-before.TotalAlloc) / (1 << 20); grown > 48+readings {
				t.Errorf("allocated %.0f MiB", grown)
			}
			exit := (*ExitError)(nil)
			if errors.As(res.Err, &exit) != (tt.exit != nil) || exit != nil && *exit != *tt.exit {
				t.Errorf("run: %v, want %v", res.Err, tt.exit)
			} else if exit == nil && !errors.Is(res.Err, tt.err) {
				t.Errorf("run: %v, want %v", res.Err, tt.err)
			}
			if (res.LeftBehind > 0) != tt.left {
				t.Errorf("%d processes outlived the job", res.LeftBehind)
			}
			out, at, err := res.Output()
			if !errors.Is(err, tt.out) {
				t.Fatalf("report: %v, want %v", err, tt.out)
			}
			if err == nil && (!slices.Equal(out.Laps(), tt.laps) || at <= 0) {
				t.Errorf("report: %v at %v", out.Laps(), at)
			}
		})
	}
}

func TestRunCounts(t *testing.T) {
	r := New(Settings{Scratch: t.TempDir()})
	c, _ := job(t, "computes")
	res, err := r.Run(t.Context(), c)
	if err != nil || res.Err != nil {
		t.Fatal(err, res)
	}
	// The child's time counts too: the first process alone stops at 0.3 s
	// of wall time.
	last := res.Trace[len(res.Trace)-1]
	if res.CPU <= 0 || res.CPU > 2*res.Wall+time.Second || last.CPU != res.CPU || last.At != res.Wall {
		t.Errorf("CPU %v of wall %v, last reading %+v", res.CPU, res.Wall, last)
	}
	if res.PeakBytes < 1<<20 {
		t.Errorf("peak memory %d", res.PeakBytes)
	}
	for i, p := range res.Trace[1:] {
		if p.At < res.Trace[i].At {
			t.Fatalf("readings out of order: %v", res.Trace)
		}
	}
}

func TestRunCountsOrphans(t *testing.T) {
	r := New(Settings{Scratch: t.TempDir()})
	c, _ := job(t, "orphan computes")
	res, err := r.Run(t.Context(), c)
	if err != nil || res.Err != nil {
		t.Fatal(err, res)
	}
	if res.CPU < 480*time.Millisecond || res.LeftBehind != 1 { // the kernel counts in 10 ms
		t.Errorf("CPU %v, %d left behind", res.CPU, res.LeftBehind)
	}
}

func TestRunMarks(t *testing.T) {
	r := New(Settings{})
	told := 0
	c, _ := job(t, "epochs")
	c.Reader.Units = 3
	c.Marked = func(m []progress.Mark) { told = len(m) }
	res, err := r.Run(t.Context(), c)
	if err != nil || res.Err != nil || len(res.Marks) != 3 || told != 3 || res.Stopped != 0 {
		t.Fatalf("%v, marks %v, %d told", err, res, told)
	}
	c, _ = job(t, "one endless line")
	c.Reader = progress.Reader{Units: 1, Pattern: regexp.MustCompile("^x+$")}
	if res, err := r.Run(t.Context(), c); err != nil || len(res.Marks) != 1 { // its first KiBs match
		t.Fatalf("an endless line: %v, marks %v", err, res)
	}
	c, _ = job(t, "epochs")
	c.Reader = progress.Reader{Units: 6, Pattern: regexp.MustCompile(`^Epoch`)}
	if res, err = r.Run(t.Context(), c); err != nil || len(res.Marks) == 0 || res.Marks[len(res.Marks)-1].Number != 6 {
		t.Fatalf("without a group: %v, marks %v", err, res.Marks)
	}
}

func TestRunScratch(t *testing.T) {
	r := New(Settings{Scratch: t.TempDir()})
	var dirs []string
	for range 2 {
		c, _ := job(t, "scratch")
		c.Args[1] = "--out=" + ScratchWord + "/model"
		res, err := r.Run(t.Context(), c)
		if err != nil || res.Err != nil {
			t.Fatal(err, res.Err)
		}
		dir, arg, _ := strings.Cut(strings.TrimSpace(res.Stdout()), " ")
		if arg != "--out="+dir+"/model" || filepath.Dir(dir) != r.settings.Scratch {
			t.Errorf("got %q", res.Stdout())
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("scratch folder is left: %v", err)
		}
		dirs = append(dirs, dir)
	}
	if dirs[0] == dirs[1] {
		t.Error("two runs shared a folder")
	}
}

func TestRunErrors(t *testing.T) {
	r := New(Settings{})
	for _, args := range [][]string{nil, {"/nonexistent/job"}, {"/"}} {
		if _, err := r.Run(t.Context(), Command{Args: args}); !errors.Is(err, ErrStart) {
			t.Errorf("%q: %v", args, err)
		}
	}
	if _, err := New(Settings{Scratch: "/nonexistent"}).Run(t.Context(), Command{Args: []string{"true"}}); !errors.Is(err, ErrStart) {
		t.Errorf("no scratch folder: %v", err)
	}
	if _, err := r.Run(t.Context(), Command{Args: []string{"true"}, Dir: "/nonexistent"}); !errors.Is(err, ErrStart) {
		t.Errorf("no folder: %v", err)
	}
}

func TestRunCancelled(t *testing.T) {
	r := New(Settings{Scratch: t.TempDir()})
	ctx, cancel := context.WithCancel(t.Context())
	c, mark := job(t, "hang")
	time.AfterFunc(200*time.Millisecond, cancel)
	if _, err := r.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if left := marked(t, mark); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
	if _, err := r.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

func TestRunReason(t *testing.T) {
	c, _ := job(t, "exit 3")
	res, err := New(Settings{}).Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := res.Reason(), "exit status 3: out of luck"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTraceIsBounded(t *testing.T) {
	var r Result
	for i := range 50_000 {
		r.read(time.Duration(i), timing.TreeUsage{CPU: time.Duration(i)})
	}
	if n := len(r.Trace); n < mostPoints/2 || n >= mostPoints {
		t.Errorf("%d readings", n)
	}
	for i := 1; i < len(r.Trace); i++ {
		if step := r.Trace[i].At - r.Trace[i-1].At; step != time.Duration(r.step) {
			t.Fatalf("step of %d at %d, want %d", step, i, r.step)
		}
	}
}

func TestTail(t *testing.T) {
	var all []byte
	var tl tail
	for i := range 3000 {
		piece := bytes.Repeat([]byte{byte(i)}, i%37)
		all = append(all, piece...)
		tl.write(piece)
		if want := all[max(0, len(all)-tailBytes):]; !bytes.Equal(tl.b, want) {
			t.Fatalf("after %d bytes the tail differs", len(all))
		}
	}
	tl.write(bytes.Repeat([]byte("y"), 3*tailBytes))
	if len(tl.b) != tailBytes {
		t.Errorf("%d bytes kept", len(tl.b))
	}
}
