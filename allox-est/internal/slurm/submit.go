package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrSlurm is returned when one of Slurm's commands fails.
var ErrSlurm = errors.New("slurm")

// ErrNoAccounting is returned where a cluster keeps no history of its jobs.
var ErrNoAccounting = errors.New("no accounting")

// Submit submits the script with its arguments, options of sbatch before it, and
// returns the job's number. The error wraps ErrSlurm and holds what sbatch says.
func (s *Script) Submit(ctx context.Context, options, args []string) (string, error) {
	argv := append(append([]string{"--parsable"}, options...), s.Path)
	out, err := output(exec.CommandContext(ctx, "sbatch", append(argv, args...)...))
	return number(string(out)), err
}

// Run submits a command with the script's directives and waits for its end;
// started is called with the job's number. When ctx ends the job is cancelled. The error
// wraps ErrSlurm.
func (s *Script) Run(ctx context.Context, options, argv []string, started func(job string)) error {
	cmd := exec.CommandContext(ctx, "sbatch", append([]string{"--parsable"}, options...)...)
	cmd.Stdin, cmd.Env = strings.NewReader(s.wrap(argv)), sampleEnv(cmd.Environ())
	out, err := output(cmd)
	if err != nil {
		return err
	}
	job := number(string(out))
	started(job)
	if err := await(ctx, job); err != nil {
		if ctx.Err() != nil {
			cancel(job)
		}
		return err
	}
	return nil
}

// Bounds of the time between two looks at the queue, and how many looks in a row
// may fail.
const (
	soonest  = 200 * time.Millisecond
	latest   = 10 * time.Second
	failures = 10
)

// await waits for a job's end. sbatch --wait looks more and more rarely, up to
// half a minute apart; this one after a tenth of the time that has passed.
func await(ctx context.Context, job string) error {
	failed, begin := 0, time.Now()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(latest, max(soonest, time.Since(begin)/10))):
		}
		out, err := output(exec.CommandContext(ctx, "squeue", "--noheader", "--states=all", "--format=%T", "--jobs="+job))
		state := strings.TrimSpace(string(out))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && (state == "" || state == "COMPLETED"), err != nil && strings.Contains(err.Error(), "Invalid job id"):
			return nil // or forgotten already: its files show the result
		case err == nil && slices.Contains(ended, state):
			return fmt.Errorf("%w: job %s: %s", ErrSlurm, job, state)
		case err == nil:
			failed = 0
		default:
			if failed++; failed == failures {
				return err
			}
		}
	}
}

// ended are the states of a job that did not complete (squeue(1)).
var ended = []string{"BOOT_FAIL", "CANCELLED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT"}

// historyTime is the age of the oldest jobs that count.
const historyTime = 90 * 24 * time.Hour

// History returns the jobs of a user, by number, in Slurm's accounting since 90 days
// before now. The error wraps ErrSlurm.
func History(ctx context.Context, uid int, now time.Time) ([]Ended, error) {
	cmd := exec.CommandContext(ctx, "sacct", "--noheader", "--parsable2", "--allocations", "--uid="+strconv.Itoa(uid),
		"--starttime="+now.Add(-historyTime).Format(slurmTime), "--format=JobID,State,ElapsedRaw,Start,WorkDir,SubmitLine")
	cmd.Env = append(cmd.Environ(), "SLURM_TIME_FORMAT=standard")
	out, err := output(cmd)
	if err != nil && strings.Contains(err.Error(), "accounting storage is disabled") {
		return nil, fmt.Errorf("%w: %w", ErrNoAccounting, err)
	}
	if err != nil {
		return nil, err
	}
	var jobs []Ended
	for line := range strings.Lines(string(out)) {
		if job, ok := parseEnded(strings.TrimSpace(line)); ok {
			jobs = append(jobs, job)
		}
	}
	return jobs, nil
}

// patience bounds the time of a command of Slurm's after the user has interrupted.
const patience = 20 * time.Second

func cancel(job string) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	_ = exec.CommandContext(ctx, "scancel", job).Run()
}

// number returns the job's number in what sbatch --parsable prints: NUMBER or NUMBER;CLUSTER.
func number(line string) string {
	n, _, _ := strings.Cut(strings.TrimSpace(line), ";")
	return n
}

// output returns the output of one of Slurm's commands; an error contains its messages.
func output(cmd *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	name := filepath.Base(cmd.Args[0])
	if text := strings.Join(strings.Fields(stderr.String()), " "); text != "" {
		return nil, fmt.Errorf("%w: %s: %s", ErrSlurm, name, text)
	}
	return nil, fmt.Errorf("%w: %s: %w", ErrSlurm, name, err)
}

// Queued is a job of the queue: pending, running or on its way out.
type Queued struct{ Job, State, Name string }

// Queue returns the jobs of a user that are in the queue. The error wraps ErrSlurm.
func Queue(ctx context.Context, uid int) ([]Queued, error) {
	out, err := output(exec.CommandContext(ctx, "squeue", "--noheader", "--user="+strconv.Itoa(uid), "--format=%A|%T|%j"))
	if err != nil {
		return nil, err
	}
	var jobs []Queued
	for line := range strings.Lines(string(out)) {
		fields := strings.SplitN(strings.TrimSpace(line), "|", 3)
		if len(fields) == 3 {
			jobs = append(jobs, Queued{fields[0], fields[1], fields[2]})
		}
	}
	return jobs, nil
}

// Show returns a job by its number. The error wraps ErrSlurm and holds what scontrol says.
func Show(ctx context.Context, job string) (Running, error) {
	out, err := output(exec.CommandContext(ctx, "scontrol", "show", "job", "--oneliner", job))
	if err != nil {
		return Running{}, err
	}
	return parseRunning(string(out))
}
