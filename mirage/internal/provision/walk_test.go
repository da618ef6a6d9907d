package provision

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/testkit/scripttest"
	"github.com/foretime/foretime/shared/testkit/slurmtest"
)

// TestRealWalk does what the guide shows of a chain, and what else may befall one:
// a partition that there is not, and an array of which one task may run at a time,
// which leaves room. Others' jobs are hidden there, which is told.
func TestRealWalk(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	c := slurmtest.Start(t, func(c *slurmtest.Cluster) { c.Configure("PrivateData=jobs\n") })
	run(t, nil, "go", "build", "-o", filepath.Join(c.Dir, "mirage"), "../../cmd/mirage")
	env := append(c.Env(), "PATH="+c.Dir+":"+os.Getenv("PATH"))
	shell := func(commands string) (string, error) {
		cmd := exec.Command("sh", "-ec", commands)
		cmd.Dir, cmd.Env = c.Dir, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Run("guide", func(t *testing.T) {
		scripttest.Guide(t, "../../docs/uninterrupted.md", testscript.Params{WorkdirRoot: c.Dir, Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, env...)
			return nil
		}})
	})
	out, err := shell(`printf '#!/bin/sh\nexec sleep 5\n' > service.sh; mirage when --job-nodes 1`)
	if err != nil || !strings.Contains(out, "PrivateData in slurm.conf contains jobs") {
		t.Errorf("%v: that jobs are hidden is not told:\n%s", err, out)
	}
	out, err = shell("mirage provision --state-dir refused --model avg --set service.limit=1m --slurm-option=--partition=nope service.sh")
	if err == nil || !strings.Contains(out, "invalid partition specified: nope") || !strings.Contains(out, "Batch job submission failed") {
		t.Errorf("a partition that there is not: %v\n%s", err, out)
	}
	throttled(t, c, shell)
	left(t, c, env)
}

// left stops a run while its first service runs alone: the successor that it leaves
// behind waits for that one's end, and it says how to take it back.
func left(t *testing.T, c *slurmtest.Cluster, env []string) {
	cmd := exec.Command(filepath.Join(c.Dir, "mirage"), "provision", "--state-dir", "left", "--model", "reactive", "--leave-successor", "--set", "service.notice=10s", "--set", "service.limit=5m",
		"--set", "decide.poll=1s", "--set", "decide.interval=5s", "--slurm-option=--output=/dev/null", "long.sh")
	var told bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = c.Dir, env, &told
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := errors.Join(os.WriteFile(filepath.Join(c.Dir, "long.sh"), []byte("#!/bin/sh\nexec sleep 600\n"), 0o755), cmd.Start()); err != nil {
		t.Fatal(err)
	}
	c.Await("a service that runs", func() bool {
		b, _ := os.ReadFile(filepath.Join(c.Dir, "left", "journal.jsonl"))
		return bytes.Contains(b, []byte(`"kind":"started"`))
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	jobs, err := c.Run("squeue", "--noheader", "--states=PD", "--format=%r %E", "--name="+successor(t, c))
	if err != nil || !strings.Contains(jobs, "Dependency afterany:") || !strings.Contains(told.String(), " is still queued; scancel ") || !strings.Contains(told.String(), " is still running; scancel ") {
		t.Errorf("%v: pending %q\n%s", err, jobs, told.Bytes())
	}
}

// successor is the job name of the second service in the folder left.
func successor(t *testing.T, c *slurmtest.Cluster) string {
	l, err := ReadLedger(filepath.Join(c.Dir, "left", "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("service-%s-1", l.Chain)
}

// throttled keeps a chain going beside an array that holds one node of four: its
// fifty-nine other tasks are no competition, so that nothing is submitted early.
func throttled(t *testing.T, c *slurmtest.Cluster, shell func(string) (string, error)) {
	if _, err := c.Run("sbatch", "--parsable", "--exclusive", "--array=1-60%1", "--time=10", "--output=/dev/null", "--wrap=sleep 600"); err != nil {
		t.Fatal(err)
	}
	c.Await("a task that runs", func() bool {
		out, err := c.Run("squeue", "--noheader", "--states=R", "--format=%i")
		return err == nil && strings.Contains(out, "_1")
	})
	out, err := shell("mirage provision --state-dir beside --set service.limit=1m --set service.time=5s --set decide.interval=1s --services 3 --json --slurm-option=--output=/dev/null service.sh 2> /dev/null")
	var sum Summary
	if err != nil || json.Unmarshal([]byte(out), &sum) != nil {
		t.Fatalf("%v: %s", err, out)
	}
	decisions, err := os.ReadFile(filepath.Join(c.Dir, "beside", "decisions.jsonl"))
	if err != nil || sum.HandOvers != 2 || foreseesWait(t, decisions) {
		t.Errorf("%v, %+v: a wait was expected where there is none:\n%s", err, sum, decisions)
	}
}

// foreseesWait reports whether a decision expected a wait. On a slow machine a successor may
// be submitted early without one: the submission takes time too.
func foreseesWait(t *testing.T, decisions []byte) bool {
	t.Helper()
	for line := range bytes.Lines(decisions) {
		var v Verdict
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(v.ChanceBy, func(s wait.Start) bool { return s.Chance == 0.5 && s.Seconds > 1 }) {
			return true
		}
	}
	return false
}
