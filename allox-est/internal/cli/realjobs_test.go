package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// realJobs are training loops as their packages' documents show them.
var realJobs = []struct {
	name  string
	count string // --epochs, where the output does not say of how many
	args  []string
}{
	{"mnist", "36", []string{"mnist.py", "--epochs", "36"}},
	{"lightgbm", "3600", []string{"lightgbm_rounds.py", "--rounds", "3600"}},
	{"xgboost", "300", []string{"xgboost_rounds.py", "--rounds", "300"}},
	{"nanogpt", "3000", []string{"nanogpt.py", "--max_iters", "3000", "--log_interval", "10", "--eval_interval", "100"}},
	{"lstm", "60", []string{"lstm.py", "--epochs", "60"}},
	{"keras", "", []string{"keras_fit.py", "--epochs", "12"}},
}

// answered matches a line with the estimated total time.
var answered = regexp.MustCompile(`^(?:epoch|step|iteration|round) (\S+) of (\d+): (\S+) in all, (\S+) to (\S+); \S+ left$`)

// keptAnswer is what one run of a job was said to take, and took, in seconds.
type keptAnswer struct {
	name             string
	first, low, high float64 // the first answer
	took             float64 // the run
	lines            int     // until the first answer, with those of the log
}

// withWheels runs the program where the jobs find their packages, on one thread.
func withWheels(t *testing.T, wheels, args []string) (stdout, stderr bytes.Buffer) {
	t.Helper()
	cmd := exec.Command("allox-est", args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+strings.Join(wheels, ":"), "OMP_NUM_THREADS=1")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", args, err, stderr.String())
	}
	return stdout, stderr
}

// keep starts a job once, by one command without a pattern or a file, and reads what
// a user would.
func keep(t *testing.T, wheels []string, name, count string, args []string) keptAnswer {
	t.Helper()
	path := filepath.Join(t.TempDir(), "j.jsonl")
	words := []string{"run", "--keep", "--journal", path}
	if count != "" {
		words = append(words, "--epochs", count)
	}
	words = append(words, "--", "/usr/bin/python3", filepath.Join("testdata", "real", args[0]))
	stdout, stderr := withWheels(t, wheels, append(words, args[1:]...))
	a := keptAnswer{name: name, lines: strings.Count(stderr.String(), "level=")}
	for _, line := range strings.Split(strings.TrimSpace(stdout.String()), "\n") {
		if strings.Contains(line, " so far, ") {
			continue // a rate: a job of less than ten seconds has its answer at the end
		}
		a.lines++
		found := answered.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		a.first, a.low, a.high = seconds(t, found[3]), seconds(t, found[4]), seconds(t, found[5])
		break
	}
	j, err := journal.Read(path)
	if err != nil || len(j.Runs) != 1 || len(j.Runs[0].Marks) < 2 {
		t.Fatalf("%s: %v, journal %+v\n%s\n%s", name, err, j, stdout.String(), stderr.String())
	}
	a.took = j.Runs[0].Wall
	if a.first == 0 {
		t.Fatalf("%s: no answer\n%s\n%s", name, stdout.String(), stderr.String())
	}
	return a
}

func seconds(t *testing.T, text string) float64 {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d.Seconds()
}

// TestRealJobs: a job that nobody here wrote a line for, started once by one command without
// a pattern or a file, longer than the ten seconds below which there is no forecast.
// Within eight lines there is an answer, and the program ends as the job does. With -six it
// is a measurement of all six, and most of the first intervals contain the actual time.
func TestRealJobs(t *testing.T) {
	byName(t)
	command(t)
	jobs, modules := realJobs[1:2], []string{"numpy", "scipy"}
	if *sixJobs {
		jobs, modules = realJobs, trainerModules
	}
	wheels := realWheels(t, modules...)
	stress(t)
	held, all := 0, 0
	for _, job := range jobs {
		a := keep(t, wheels, job.name, job.count, job.args)
		if a.took < 12 {
			t.Logf("%-9s took %.1f s: too short for a forecast on this machine", a.name, a.took)
			continue
		}
		all++
		in := a.took >= a.low && a.took <= a.high
		if in {
			held++
		}
		t.Logf("%-9s first answer %.1f [%.1f, %.1f] s, took %.1f s: held %v, %.0f %% wide, after %d lines", a.name, a.first, a.low, a.high, a.took, in, 100*(a.high-a.low)/a.first, a.lines)
		if a.lines > 8 {
			t.Errorf("%s: %d lines until an answer", a.name, a.lines)
		}
	}
	if *sixJobs && (all == 0 || 2*held < all) {
		t.Errorf("%d of %d first intervals held", held, all)
	}
}

// trainerModules lists the modules of /usr/bin/python3 that the jobs and trainers import.
var trainerModules = []string{"torch", "xgboost", "h5py"}

// realWheels are the folders of the wheels of real.txt; the test is skipped by name
// where a component is absent.
func realWheels(t *testing.T, modules ...string) []string {
	t.Helper()
	for _, module := range modules {
		if err := exec.Command("/usr/bin/python3", "-c", "import "+module).Run(); err != nil {
			t.Skipf("needs %s of /usr/bin/python3: %v", module, err)
		}
	}
	var wheels []string
	text, err := os.ReadFile(filepath.Join("..", "..", "real.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "pip "); ok {
			folder, err := filepath.Abs(filepath.Join("..", "..", "..", "out", "real", "pip", name))
			if _, err2 := os.Stat(folder); err != nil || err2 != nil {
				t.Skipf("needs the wheel %s in out/real/pip", name)
			}
			wheels = append(wheels, folder)
		}
	}
	return wheels
}

var (
	sixJobs   = flag.Bool("six", false, "all six jobs in TestRealJobs: minutes")
	wholeRuns = flag.Int("whole", 0, "whole runs of each job of TestWholeJobs; 0 leaves it out: minutes")
	busy      = flag.Bool("busy", false, "run together with stress-ng --cpu 4")
)

// stress starts the other work of -busy, until the test ends.
func stress(t *testing.T) {
	t.Helper()
	if !*busy {
		return
	}
	cmd := exec.Command("stress-ng", "--cpu", "4")
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: install with apt-get install stress-ng", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
}

// longer are the lengths that make the jobs take half a minute.
var longer = map[string]string{"mnist": "28", "lightgbm": "4500", "xgboost": "350", "nanogpt": "1600", "lstm": "70", "keras": "16"}

// TestWholeJobs holds the estimates of the six jobs, from samples of 3 %, against whole
// runs of half a minute, for wall and for processor time.
func TestWholeJobs(t *testing.T) {
	if *wholeRuns == 0 {
		t.Skip("minutes: -whole 3")
	}
	command(t)
	wheels := realWheels(t, trainerModules...)
	stress(t)
	held, all := map[string]int{}, 0
	widths := map[string][]float64{}
	for _, job := range realJobs {
		args := []string{"validate", "--no-record", "--json", "--runs", strconv.Itoa(*wholeRuns), "--epochs", longer[job.name],
			"--journal", filepath.Join(t.TempDir(), "j.jsonl"), "--", "/usr/bin/python3", filepath.Join("testdata", "real", job.args[0])}
		for _, arg := range job.args[1:] {
			if arg == cmp.Or(job.count, "12") {
				arg = "{epochs}"
			}
			args = append(args, arg)
		}
		text, _ := withWheels(t, wheels, args)
		var answer struct {
			Devices map[string]struct {
				Wall   uncertainty.Prediction `json:"wall_seconds"`
				CPU    uncertainty.Prediction `json:"cpu_seconds"`
				Actual []struct {
					Wall float64 `json:"wall_seconds"`
					CPU  float64 `json:"cpu_seconds"`
				}
			}
			Warnings []string
		}
		if err := json.Unmarshal(text.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		cpu := answer.Devices["cpu"]
		show := func(clock string, p uncertainty.Prediction, took []float64) {
			in := 0
			for _, s := range took {
				if s >= p.Low && s <= p.High {
					in++
				}
			}
			held[clock] += in
			widths[clock] = append(widths[clock], 100*(p.High-p.Low)/p.Value)
			t.Logf("%-9s %-4s %.1f [%.1f, %.1f] s, %.0f %% wide, took %.1f: %d held", job.name, clock, p.Value, p.Low, p.High, 100*(p.High-p.Low)/p.Value, took, in)
		}
		var wall, processor []float64
		for _, a := range cpu.Actual {
			all++
			wall, processor = append(wall, a.Wall), append(processor, a.CPU)
		}
		show("wall", cpu.Wall, wall)
		show("cpu", cpu.CPU, processor)
		t.Logf("%-9s %s", job.name, strings.Join(answer.Warnings, "; "))
	}
	for _, clock := range []string{"wall", "cpu"} {
		t.Logf("%s: %d of %d held, median width %.0f %%", clock, held[clock], all, stats.Median(widths[clock]))
		if 3*held[clock] < 2*all {
			t.Errorf("%s: fewer than two thirds held", clock)
		}
	}
}
