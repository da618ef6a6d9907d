package cli

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/shared/testkit/slurmtest"
)

// slurmJobs is how many jobs TestRealSlurm asks for; each takes some seconds of
// waiting for the queue.
var (
	slurmJobs = flag.Int("slurm-jobs", 8, "batch jobs of TestRealSlurm")
	slurmSeed = flag.Uint64("slurm-seed", 1, "seed of the jobs of TestRealSlurm")
)

// TestRealSlurm asks a real Slurm for the time of batch jobs, runs them and
// compares: how many would have been cut off, and how much of the limits went unused,
// compared with a limit of twice the time that the job takes.
func TestRealSlurm(t *testing.T) {
	byName(t)
	slurmtest.Need(t)
	command(t)
	c := slurmtest.Start(t)
	script := filepath.Join(c.Dir, "train.sbatch")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n#SBATCH --ntasks=1\nexec allox-est jobs burner \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(*slurmSeed, 1))
	const quantile = 0.95
	jobs := *slurmJobs
	var wait sync.WaitGroup
	free := make(chan bool, 4) // one a node
	limits, times := make([]float64, jobs), make([]float64, jobs)
	for i := range jobs {
		epochs := 40 + random.IntN(60)
		// Each run has noise of its own, as a machine has: with the same seed the
		// samples would repeat each other's epochs and look surer than they are.
		args := []string{"--setup", "0.3s", "--epoch", fmt.Sprintf("%.3fs", 0.02+0.04*random.Float64()), "--noise", "0.1", "--seed", fmt.Sprintf("%d{epochs}", 100*(*slurmSeed)+uint64(i))}
		wait.Go(func() {
			free <- true
			defer func() { <-free }()
			limit, actual, err := ask(c, script, filepath.Join(c.Dir, fmt.Sprintf("%d.jsonl", i)), epochs, quantile, args)
			if err != nil {
				t.Errorf("job %d: %v", i, err)
				return
			}
			limits[i], times[i] = limit, actual
		})
	}
	wait.Wait()
	cut, vain := judge(limits, times)
	t.Logf("%d of %d jobs longer than asked at %g; %.1f %% asked beyond what %.0f s of jobs took; twice the time cuts none and asks 100 %%", cut, jobs, quantile, 100*vain, floats.Sum(times))
	if often := 3 + jobs/10; cut > often { // the chance of that many at 5 % is below 1 in 200
		t.Errorf("%d of %d cut off", cut, jobs)
	}
}

// judge counts the jobs that took longer than their limits, and what these ask
// beyond the times, as a share of them.
func judge(limits, times []float64) (cut int, vain float64) {
	for i, limit := range limits {
		if times[i] > limit {
			cut++
		}
	}
	return cut, floats.Sum(limits)/floats.Sum(times) - 1
}

// ask has allox-est find the limit of a job, then runs the whole job and returns
// both in seconds.
func ask(c *slurmtest.Cluster, script, journal string, epochs int, quantile float64, args []string) (limit, actual float64, err error) {
	run := func(argv ...string) ([]byte, error) {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env, cmd.Dir = c.Env(), c.Dir
		out, err := cmd.Output()
		if exit, ok := err.(*exec.ExitError); ok {
			err = fmt.Errorf("%s: %w: %s", argv[0], err, exit.Stderr)
		}
		return out, err
	}
	asked := append([]string{"allox-est", "slurm", "--json", "--epochs", fmt.Sprint(epochs), "--quantile", fmt.Sprint(quantile), "--journal", journal, "--", script, "--epochs", "{epochs}"}, args...)
	out, err := run(asked...)
	if err != nil {
		return 0, 0, err
	}
	var answer struct {
		Limit float64 `json:"wall_seconds_at_quantile"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, out)
	}
	stamps := journal + ".time"
	timed := fmt.Sprintf("date +%%s.%%N >%s; %s --epochs %d %s >/dev/null; date +%%s.%%N >>%s", stamps, script, epochs, strings.ReplaceAll(strings.Join(args, " "), "{epochs}", fmt.Sprint(epochs)), stamps)
	if _, err := run("sbatch", "--time=5", "--output=/dev/null", "--wrap="+timed); err != nil {
		return 0, 0, err
	}
	for range 3000 { // sbatch --wait looks every few seconds only
		text, _ := os.ReadFile(stamps)
		var begin, end float64
		if n, _ := fmt.Sscan(string(text), &begin, &end); n == 2 && strings.HasSuffix(string(text), "\n") {
			return answer.Limit, end - begin, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return 0, 0, fmt.Errorf("%s: the job did not end", stamps)
}

// TestRealSlurmPast: what a real Slurm's accounting says of jobs that were
// submitted before changes what is asked for the next one.
func TestRealSlurmPast(t *testing.T) {
	byName(t)
	slurmtest.Need(t)
	command(t)
	c := slurmtest.Start(t, slurmtest.KeepAccounts)
	script := filepath.Join(c.Dir, "train.sbatch")
	// The job takes four seconds more than its samples show.
	if err := os.WriteFile(script, []byte("#!/bin/sh\n[ $2 -lt 60 ] || sleep 4\nexec allox-est jobs burner --setup 0.1s --epoch 0.02s \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ask := func(more ...string) (limit float64, past int, job string) {
		t.Helper()
		argv := append([]string{"slurm", "--json", "--epochs", "60", "--quantile", "0.6", "--journal", filepath.Join(c.Dir, "j.jsonl")}, more...)
		cmd := exec.Command("allox-est", append(argv, "--", script, "--epochs", "{epochs}")...)
		cmd.Env, cmd.Dir = c.Env(), c.Dir
		out, err := cmd.Output()
		var a struct {
			Limit float64 `json:"wall_seconds_at_quantile"`
			Past  int     `json:"past_runs"`
			Job   string
		}
		if err = errors.Join(err, json.Unmarshal(out, &a)); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return a.Limit, a.Past, a.Job
	}
	var jobs []string
	sampled := 0.0 // by the samples alone
	for range 3 {
		limit, past, job := ask("--submit")
		if past != 0 {
			t.Errorf("%v s after %d jobs, want the samples' alone", limit, past)
		}
		sampled = max(sampled, limit)
		jobs = append(jobs, job)
	}
	c.Await("the accounts of all jobs", func() bool {
		out, err := c.Run("sacct", "--noheader", "--parsable2", "--allocations", "--format=State", "--jobs="+strings.Join(jobs, ","))
		return err == nil && strings.Count(out, "COMPLETED") == len(jobs)
	})
	if limit, past, _ := ask(); past != 3 || limit < 5 || limit <= sampled {
		t.Errorf("%d jobs, %v s, want 3 and 5 s or more; %v s by samples", past, limit, sampled)
	}
	// A job that the user submitted without allox-est counts; one of other epochs does not.
	for _, argv := range [][]string{{"sbatch", "--time=5", "--output=/dev/null", script, "--epochs", "60"}, {"sbatch", "--output=/dev/null", script, "--epochs", "61"}} {
		out, err := c.Run(argv...)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		jobs = append(jobs, out[strings.LastIndexByte(strings.TrimSpace(out), ' ')+1:])
	}
	c.Await("the accounts of two more", func() bool {
		out, err := c.Run("sacct", "--noheader", "--parsable2", "--allocations", "--format=State")
		return err == nil && strings.Count(out, "COMPLETED") == len(jobs)+1 // and the job of samples
	})
	if limit, past, _ := ask(); past != 4 || limit < 5 {
		t.Errorf("%d jobs, %v s, want 4 and 5 s or more", past, limit)
	}
}

// A batch job that is submitted gets the limit that was found; samples are
// reused, and an unknown partition is an error in Slurm's words.
func TestRealSlurmSubmit(t *testing.T) {
	byName(t)
	slurmtest.Need(t)
	command(t)
	c := slurmtest.Start(t)
	script := filepath.Join(c.Dir, "train.sbatch")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n#SBATCH --job-name=train\n#SBATCH --time=7-0\nexec allox-est jobs burner --setup 0.1s --epoch 0.02s \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command("allox-est", append([]string{"slurm", "--epochs", "60", "--journal", filepath.Join(c.Dir, "j.jsonl")}, args...)...)
		cmd.Env, cmd.Dir = c.Env(), c.Dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("--submit", "--", script, "--epochs", "{epochs}")
	if err != nil || !strings.Contains(out, "sbatch --time=00:01:00 --mem=") || !strings.Contains(out, "submitted as job ") {
		t.Fatalf("%v\n%s", err, out)
	}
	_, job, _ := strings.Cut(strings.TrimSpace(out), "submitted as job ")
	shown, err := c.Run("scontrol", "show", "job", job)
	if err != nil || !strings.Contains(shown, "TimeLimit=00:01:00") || !strings.Contains(shown, "JobName=train") {
		t.Errorf("%v\n%s", err, shown)
	}
	begin := time.Now()
	if out, err = run("--", script, "--epochs", "{epochs}"); err != nil || strings.Contains(out, "makes the samples") || !strings.Contains(out, "1 sample of ") {
		t.Errorf("again: %v after %v\n%s", err, time.Since(begin), out)
	}
	if err := os.WriteFile(script, []byte("#!/bin/sh\n#SBATCH --job-name=train\nexec allox-est jobs burner --setup 0.1s --epoch 0.04s \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err = run("--", script, "--epochs", "{epochs}"); err != nil || !strings.Contains(out, "is newer than its samples") || !strings.Contains(out, "makes the samples") {
		t.Errorf("a changed script: %v\n%s", err, out)
	}
	out, err = run("--fresh", "--slurm-option=--partition=nope", "--", script, "--epochs", "{epochs}")
	if err == nil || !strings.Contains(out, "invalid partition specified: nope") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRealSlurmTable: the table of all jobs of a real Slurm has each running one with its limit
// and the probability of being killed there, and ends with them.
func TestRealSlurmTable(t *testing.T) {
	byName(t)
	slurmtest.Need(t)
	command(t)
	c := slurmtest.Start(t)
	script := filepath.Join(c.Dir, "train.sbatch")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ni=0; while [ $i -lt 30 ]; do i=$((i+1)); echo \"epoch $i/30\"; sleep $1; done\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var jobs []string
	for i, pause := range []string{"1", "1.1", "1.2", "9"} {
		out, err := c.Run("sbatch", "--parsable", "--time=1", "--output="+filepath.Join(c.Dir, "slurm-%j.out"), fmt.Sprintf("--job-name=train%d", i), script, pause)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		jobs = append(jobs, strings.TrimSpace(out))
	}
	c.Await("the last job's second line", func() bool {
		out, _ := os.ReadFile(filepath.Join(c.Dir, "slurm-"+jobs[3]+".out"))
		return strings.Count(string(out), "\n") >= 2
	})
	cmd := exec.Command("allox-est", "follow", "--slurm", "all", "--json")
	cmd.Env, cmd.Dir = c.Env(), c.Dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	killed, ended := map[string]float64{}, map[string]bool{}
	for line := range strings.Lines(string(out)) {
		var rows []struct {
			Job, State string
			Killed     *float64 `json:"killed_probability"`
		}
		if err := json.Unmarshal([]byte(line), &rows); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		for _, r := range rows {
			if r.Killed != nil {
				killed[r.Job] = *r.Killed
			}
			ended[r.Job] = r.State == "ended"
		}
	}
	for i, number := range jobs {
		name := fmt.Sprintf("%s train%d", number, i)
		if p, known := killed[name]; !ended[name] || !known || (p > 0.5) != (i == 3) {
			t.Errorf("%s: ended %v, killed at its limit with probability %v (known %v)\n%s", name, ended[name], p, known, out)
		}
	}
}
