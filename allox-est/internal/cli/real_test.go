package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/allox-est/internal/journal"
)

// byName skips a test that reads the real clock unless it is asked for by name,
// as make real does: on a machine that stalls it fails without a fault.
func byName(t *testing.T) {
	t.Helper()
	if !strings.Contains(flag.Lookup("test.run").Value.String(), "TestReal") {
		t.Skip("needs a machine of its own: run with make real")
	}
}

// command builds allox-est into a folder of its own, to be found on PATH.
func command(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, "github.com/foretime/foretime/allox-est/cmd/allox-est")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache")) // not before: the compiler's own cache is there too
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// outcome is a report of one device.
type outcome struct {
	Wall        struct{ Value float64 } `json:"wall_seconds"`
	Uncontended struct{ Value float64 } `json:"wall_uncontended_seconds"`
	CPU         struct{ Value float64 } `json:"cpu_seconds"`
	Actual      []struct {
		Wall float64 `json:"wall_seconds"`
		CPU  float64 `json:"cpu_seconds"`
	} `json:"actual"`
}

// estimated runs the command that was built, with --json, and returns the CPU's
// part and the warnings. (The test binary as the guard of a run would run all tests.)
func estimated(t *testing.T, args ...string) (outcome, string) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("allox-est", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.String())
	}
	var r struct {
		Devices  map[string]outcome
		Warnings []string
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r.Devices["cpu"], strings.Join(r.Warnings, "\n")
}

// TestRealBurner: a job that sleeps, of exactly 1 + 400*0.05 + 0.5 s. The clock
// is real: a try in which the machine stalled, so that the job itself took other
// times than it was set to, does not count.
func TestRealBurner(t *testing.T) {
	byName(t)
	command(t)
	for range 5 {
		path := filepath.Join(t.TempDir(), "j.jsonl")
		got, _ := estimated(t, "run", "--json", "--epochs", "400", "--journal", path, "--",
			"allox-est", "jobs", "burner", "--setup", "1s", "--epoch", "0.05s", "--teardown", "0.5s", "--epochs", "{epochs}", "{hw}")
		t.Logf("%.3f s, the truth is 21.5 s: %+.2f %%", got.Wall.Value, 100*(got.Wall.Value/21.5-1))
		if stalled(t, path) {
			continue
		}
		if math.Abs(got.Wall.Value/21.5-1) > 0.03 {
			t.Errorf("%v s, want 21.5 within 3 %%", got.Wall.Value)
		}
		return
	}
	t.Error("the machine stalled in each of five tries")
}

// stalled reports whether a lap of the burner took over 5 ms more or less than
// it was set to.
func stalled(t *testing.T, path string) bool {
	t.Helper()
	j, err := journal.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range j.Runs {
		for i, lap := range r.Laps {
			want := 0.05
			switch i {
			case 0:
				want = 1
			case len(r.Laps) - 1:
				want = 0.5
			}
			if math.Abs(lap-want) > 0.005 {
				return true
			}
		}
	}
	return false
}

// TestRealContention: a job that computes, sampled while twice as many others
// compute as there are processors. Its processor time is known all the same,
// and the wall time is warned of.
func TestRealContention(t *testing.T) {
	byName(t)
	command(t)
	job := []string{"--", "allox-est", "jobs", "burner", "--spend", "cpu", "--setup", "0.5s", "--epoch", "0.1s", "--teardown", "0.2s", "--epochs", "{epochs}", "{hw}"}
	const truth = 0.5 + 100*0.1 + 0.2
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for range 2 * runtime.NumCPU() {
		busy := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		defer busy.Wait()
	}
	defer stop()
	time.Sleep(time.Second) // until they all run
	args := []string{"run", "--json", "--epochs", "100", "--journal", filepath.Join(t.TempDir(), "j.jsonl")}
	plain, warnings := estimated(t, append(args, job...)...)
	t.Logf("CPU %.2f s, wall %.2f s, uncontended %.2f s; the truth is %.2f s", plain.CPU.Value, plain.Wall.Value, plain.Uncontended.Value, truth)
	if math.Abs(plain.CPU.Value/truth-1) > 0.25 || math.Abs(plain.Uncontended.Value/truth-1) > 0.25 {
		t.Errorf("CPU %v s, uncontended %v s, want %v within 25 %%", plain.CPU.Value, plain.Uncontended.Value, truth)
	}
	if !strings.Contains(warnings, "contention") {
		t.Errorf("no warning of contention in\n%s", warnings)
	}
}
