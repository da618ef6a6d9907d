package provision

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/shared/testkit/slurmtest"
)

// TestRequeuedBeside: a service that Slurm requeues once its successor has started is named
// with the command that ends it; it is cancelled where two services must not overlap, if this
// chain has submitted it. Its wait is no overlap, and the chain goes on.
func TestRequeuedBeside(t *testing.T) {
	for name, tt := range map[string]struct {
		lead      float64
		noOverlap bool
		release   bool
		given     bool
		ended     bool // it is requeued after its end
		cancelled bool
	}{
		"runs":               {lead: 0.5},
		"has ended":          {lead: 0, ended: true},
		"no overlap":         {noOverlap: true, ended: true, cancelled: true},
		"no overlap, given":  {noOverlap: true, ended: true, given: true},
		"release":            {lead: 0.5, release: true, ended: true, cancelled: true},
		"runs, not released": {lead: math.Inf(1)},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := hour(3, 3, tt.lead)
			s.NoOverlap, s.Release = tt.noOverlap, tt.release
			if tt.given {
				w.submit([]string{"sbatch", "--comment=mine"})
				w.jobs[0].fate = ""
				s.Predecessor = 1
			}
			at := int64(0)
			s.Clock = &stepClock{world: w, each: func() {
				if at > 0 || len(w.jobs) < 2 || w.jobs[1].State != "RUNNING" || w.jobs[0].State.Over() != tt.ended {
					return
				}
				at = w.now.Unix()
				j := w.jobs[0]
				j.State, j.Start, j.End, j.begin = "PENDING", 0, 0, w.now.Add(20*time.Minute)
			}}
			said := ""
			s.Warn = func(err error) { said += err.Error() + "\n" }
			l, _, err := life(t.TempDir(), s)
			if err != nil {
				t.Fatal(err)
			}
			w.verify(t, l, 3)
			k, next := l.Links[0], l.Links[1]
			if k.Gone == 0 || !k.Ended || at == 0 {
				t.Fatalf("not requeued at %d: %+v", at, k)
			}
			if !strings.Contains(said, fmt.Sprintf("after job %d had taken over: two services run at once", next.Job)) {
				t.Errorf("warned:\n%s", said)
			}
			if tt.cancelled != (w.jobs[0].State == "CANCELLED") || !tt.cancelled && !strings.Contains(said, fmt.Sprintf("scancel %d", k.Job)) {
				t.Errorf("job %d is %s; warned:\n%s", k.Job, w.jobs[0].State, said)
			}
			overlap := int64(0)
			if !tt.cancelled {
				overlap = 3600
			}
			if got := k.End - k.Idle - max(k.Gone, next.First); k.Gap > 60 || got < overlap || got > overlap+60 && !tt.cancelled || tt.cancelled && got > 0 {
				t.Errorf("%d s beside the chain, want %d; interrupted for %d s: %+v, successor %+v", got, overlap, k.Gap, k, next)
			}
		})
	}
}

// TestFixedBegin: where users may not change a job's begin, the successor is replaced once, and
// each service starts about when the policy wants it.
func TestFixedBegin(t *testing.T) {
	w := newWorld(3)
	w.fixed, w.service = true, time.Hour
	s := w.settings(early(600), 5)
	s.Service, s.Request.Limit = time.Hour, time.Hour
	s.Interval, s.Poll = 5*time.Minute, time.Minute
	s.KeepPlace = true
	var warned []error
	s.Warn = func(err error) {
		if errors.Is(err, ErrRefused) {
			warned = append(warned, err)
		}
	}
	l, _, err := life(t.TempDir(), s)
	if err != nil {
		t.Fatal(err)
	}
	w.verify(t, l, 5)
	if len(warned) != 1 || w.counts["update"] != 1 {
		t.Errorf("asked %d times, warned %v", w.counts["update"], warned)
	}
	for i, k := range l.Links[1:] {
		if before := l.Links[i]; k.First > before.First+3600-600+60+25 {
			t.Errorf("link %d starts %d s after its predecessor", k.Number, k.First-before.First)
		}
	}
}

// TestBeginUnanswered: a controller that does not answer has refused nothing.
func TestBeginUnanswered(t *testing.T) {
	for said, want := range map[string]bool{
		"slurm_update error: Unable to contact slurm controller (connect failure)": false,
		"context deadline exceeded":                    false,
		"Job is no longer pending execution for job 7": false,
		"Access/permission denied for job 7":           true,
		"Requested operation is presently disabled":    true,
		"users of this site do not change begin times": true,
	} {
		c := &slurmview.Client{Runner: unwilling(said)}
		if err := setBegin(t.Context(), c, 7, time.Minute); errors.Is(err, ErrRefused) != want || errors.Is(err, slurmview.ErrCommand) == want {
			t.Errorf("%s: %v", said, err)
		}
	}
}

// unwilling is a Slurm each of whose commands fails with a text.
type unwilling string

func (u unwilling) Run(context.Context, []string, *os.File) ([]byte, error) {
	return nil, fmt.Errorf("scontrol: %w: exit status 1: %s", slurmview.ErrCommand, string(u))
}

// TestScriptFails: a first service that exits with an error at once ends the chain, without
// a successor in the queue; one that fails after a good service does not.
func TestScriptFails(t *testing.T) {
	for name, tt := range map[string]struct {
		link int // that fails
		want error
	}{"first": {0, ErrScript}, "second": {1, nil}} {
		w, s := hour(4, 3, 0.2)
		s.KeepPlace = true
		s.Clock = &stepClock{world: w, each: func() {
			for _, j := range w.jobs {
				if j.State == "RUNNING" && strings.HasSuffix(j.Comment, fmt.Sprint("/", tt.link)) && w.now.Unix() > j.Start+30 {
					j.State, j.End = "FAILED", w.now.Unix()
				}
			}
		}}
		_, _, err := life(t.TempDir(), s)
		if !errors.Is(err, tt.want) || tt.want != nil && !strings.Contains(err.Error(), "job 1 ended with exit code 3, log /home/me/slurm-1.out") {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
		for _, j := range w.jobs {
			if tt.want != nil && !j.State.Over() {
				t.Errorf("%s: job %d is %s", name, j.ID, j.State)
			}
		}
	}
}

// TestRealRequeuedBeside requeues a service whose successor has started on a real Slurm: it is
// reported and runs again, and with --no-overlap it is cancelled.
func TestRealRequeuedBeside(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	mirage := filepath.Join(t.TempDir(), "mirage")
	run(t, nil, "go", "build", "-o", mirage, "../../cmd/mirage")
	for name, more := range map[string][]string{"reported": {"--model=fixed", "--set", leadOf(12)}, "cancelled": {"--no-overlap"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &faulty{t: t, c: slurmtest.Start(t)}
			f.state = f.c.Dir
			argv := append([]string{mirage, "provision", "--state-dir", filepath.Join(f.state, "chain"), "--set", "service.limit=1m", "--set", "service.time=20s",
				"--set", "decide.interval=1s", "--services=2", "--json", "--slurm-option=--gres=gpu:2", "--slurm-option=--output=/dev/null"}, more...)
			done, injected := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(injected)
				if !f.await(done, func(l *Ledger) bool { return len(l.Links) > 0 && l.Links[0].First > 0 }) {
					return
				}
				first := f.ledger().Links[0].Job
				if err := f.change(first, "Requeue=1"); err != nil {
					t.Error(err)
				}
				if f.await(done, func(l *Ledger) bool { return len(l.Links) > 1 && l.Links[1].First > 0 }) {
					f.run("scontrol", "requeue", fmt.Sprint(first))
				}
				if name == "reported" && f.await(done, func(l *Ledger) bool { return len(l.Extra()) == 1 }) {
					if text := run(t, nil, mirage, "status", filepath.Join(f.state, "chain")); !strings.Contains(text, fmt.Sprintf("requeued after its successor had started: two services run at once unless you end it by scancel %d", first)) {
						t.Errorf("status:\n%s", text)
					}
					_ = f.change(first, "StartTime=now") // Slurm would start it two minutes later
				}
			}()
			cmd := exec.Command(argv[0], append(argv[1:], service(t, f.c.Dir, 20))...)
			var stdout, stderr bytes.Buffer
			cmd.Env, cmd.Stdout, cmd.Stderr = f.c.Env(), &stdout, &stderr
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			err := cmd.Run()
			close(done)
			<-injected
			var sum Summary
			if err := errors.Join(err, json.Unmarshal(stdout.Bytes(), &sum)); err != nil {
				t.Fatalf("%v\n%s", err, stderr.Bytes())
			}
			links := f.ledger().Links
			state := ""
			for _, j := range queue(f.c) {
				if j.ID == links[0].Job {
					state = string(j.State)
				}
			}
			said := fmt.Sprintf("job %d of link 0 was requeued after job %d had taken over", links[0].Job, links[1].Job)
			if !strings.Contains(stderr.String(), said) || links[0].Gone == 0 || sum.Ended != 2 || sum.Submissions != 2 {
				t.Errorf("%+v, %+v\n%s", sum, links, stderr.Bytes())
			}
			// A job that starts while Slurm still ends its first run may fail.
			ran := state == "COMPLETED" && sum.Overlap >= 19 || state == "FAILED"
			if name == "cancelled" && (state != "CANCELLED" || sum.Overlap > 0) || name == "reported" && !ran {
				t.Errorf("job %d is %s: %+v, %+v\n%s", links[0].Job, state, sum, links, stderr.Bytes())
			}
			t.Logf("%+v", sum)
		})
	}
}

// TestRealScriptFails: a script that exits with an error ends the chain with its exit code and
// the path of its log, and leaves no job in the queue.
func TestRealScriptFails(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	c := slurmtest.Start(t)
	mirage, script, log := filepath.Join(c.Dir, "mirage"), filepath.Join(c.Dir, "service.sh"), filepath.Join(c.Dir, "service.log")
	run(t, nil, "go", "build", "-o", mirage, "../../cmd/mirage")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nsleep 4\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(mirage, "provision", "--state-dir", filepath.Join(c.Dir, "chain"), "--set", "service.limit=10m", "--set", "decide.interval=1s", "--slurm-option=--output="+log, script)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stderr = c.Env(), &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Run(); err == nil || !strings.Contains(stderr.String(), "the script of the service fails: job 1 ended with exit code 7, log "+log) || strings.Contains(stderr.String(), "still queued") {
		t.Errorf("%v\n%s", err, stderr.Bytes())
	}
	c.Await("an empty queue", func() bool {
		out, err := c.Run("squeue", "--noheader")
		return err == nil && out == ""
	})
	t.Log(stderr.String())
}
