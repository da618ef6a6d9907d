package provision

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/slurmview"
)

// hour is a world whose services run for an hour.
func hour(seed uint64, links int, lead float64) (*world, Settings) {
	w := newWorld(seed)
	w.service = time.Hour
	s := w.settings(policy.Fixed{LeadHours: lead}, links)
	s.Service, s.Request.Limit = time.Hour, 2*time.Hour
	s.Interval, s.Poll = time.Minute, 20*time.Second
	return w, s
}

// TestRequeued: a running service that is requeued waits again; it gets no successor
// before it has run, and its successor one.
func TestRequeued(t *testing.T) {
	for name, again := range map[string]time.Duration{"waits": 5 * time.Minute, "between two polls": time.Second} {
		w, s := hour(3, 3, 0.2)
		requeued := false
		s.Clock = &stepClock{world: w, each: func() {
			if len(w.jobs) == 0 {
				return
			}
			j := w.jobs[0]
			if !requeued && j.State == "RUNNING" && w.now.Unix()-j.Start > 1200 {
				requeued = true
				j.State, j.Start, j.End, j.begin = "PENDING", 0, 0, w.now.Add(again)
			}
		}}
		var warned []error
		s.Warn = func(err error) { warned = append(warned, err) }
		l, _, err := life(t.TempDir(), s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		w.verify(t, l, 3)
		k := l.Links[0]
		if !requeued || k.Start <= k.First || k.Gone == 0 || k.End-k.Start != 3600 {
			t.Errorf("%s: %+v", name, k)
		}
		if at := w.jobs[1].Submit; at < k.Start+3600-720-60 {
			t.Errorf("%s: the successor was submitted %d s before the end of its predecessor", name, k.End-at)
		}
		if len(warned) == 0 || !strings.Contains(warned[0].Error(), "requeued") {
			t.Errorf("%s: warned %v", name, warned)
		}
	}
}

// TestRequeuedAndCancelled: a service that is requeued and then cancelled has run, whether
// its successor is submitted by then or not: the chain goes on with the next.
func TestRequeuedAndCancelled(t *testing.T) {
	for name, after := range map[string]int64{"before its successor": 600, "after its successor": 3300} {
		w, s := hour(7, 3, 0.5)
		step := 0
		s.Clock = &stepClock{world: w, each: func() {
			switch {
			case len(w.jobs) == 0:
			case step == 0 && w.jobs[0].State == "RUNNING" && w.now.Unix()-w.jobs[0].Start > after:
				j := w.jobs[0]
				step, j.State, j.Start, j.End, j.begin = 1, "PENDING", 0, 0, w.now.Add(24*time.Hour)
			case step > 0 && step < 30:
				step++
			case step == 30:
				step++
				w.jobs[0].State, w.jobs[0].Start, w.jobs[0].End = "CANCELLED", w.now.Unix(), w.now.Unix()
			}
		}}
		l, _, err := life(t.TempDir(), s)
		if err != nil || len(l.Links) != 3 || len(l.Links[0].Void) > 0 || !l.Links[0].Ended {
			t.Fatalf("%s: %v, %+v", name, err, l)
		}
		w.verify(t, l, 3)
	}
}

// stepClock calls a function at each look at the time, and may differ from the clock of
// the Slurm.
type stepClock struct {
	*world
	each func()
	off  time.Duration
}

func (c *stepClock) Now() time.Time {
	c.each()
	return c.world.Now().Add(c.off)
}

// TestClockStep: the clock of this machine jumps; each service is submitted once, and the
// chain goes on.
func TestClockStep(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour, 24 * time.Hour, 30 * time.Second} {
		w, s := hour(4, 4, 0.2)
		c := &stepClock{world: w}
		begin := w.now
		c.each = func() {
			if w.now.Sub(begin) > 90*time.Minute {
				c.off = off
			}
		}
		s.Clock = c
		l, _, err := life(t.TempDir(), s)
		if err != nil {
			t.Fatalf("%v: %v", off, err)
		}
		w.verify(t, l, 4)
		t.Logf("%v: %+v", off, l.Summary())
	}
}

// TestHeldSuccessor: a held successor is reported with the command that releases it.
func TestHeldSuccessor(t *testing.T) {
	w, s := hour(5, 2, 0.5)
	l := &limited{world: w, reason: "JobHeldAdmin"}
	s.Client, s.Poll = &slurmview.Client{Runner: l}, 5*time.Second
	said := false
	s.Warn = func(err error) { said = said || strings.Contains(err.Error(), "scontrol release 1") }
	if _, _, err := life(t.TempDir(), s); err != nil || !said {
		t.Errorf("%v, reported: %v", err, said)
	}
}

// TestFullDisk: while the state cannot be written nothing is submitted, and the chain
// goes on when it can. A process of its own has a limit on the size of files, which is a
// full disk to it.
func TestFullDisk(t *testing.T) {
	const role = "FORETIME_FULL_DISK"
	if os.Getenv(role) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), role+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	limit := func(bytes uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: 1 << 40}); err != nil {
			t.Fatal(err)
		}
	}
	for full, want := range map[time.Duration]error{time.Hour: nil, 3 * time.Hour: ErrWrite} {
		w, s := hour(6, 4, 0.2)
		begin := w.now
		s.Clock = &stepClock{world: w, each: func() {
			if after := w.now.Sub(begin); after > 20*time.Minute && after < 20*time.Minute+full {
				limit(1)
			} else {
				limit(1 << 30)
			}
		}}
		unwritten := 0
		s.Warn = func(err error) {
			if strings.Contains(err.Error(), "file too large") {
				unwritten++
			}
		}
		dir := t.TempDir()
		l, _, err := life(dir, s)
		if limit(1 << 30); !errors.Is(err, want) {
			t.Errorf("full for %v: %v, want %v", full, err, want)
		}
		if unwritten == 0 {
			t.Errorf("full for %v: no warning", full)
		}
		if want == nil {
			w.verify(t, l, 4)
			t.Logf("full for %v: %+v", full, l.Summary())
			continue
		}
		s.Clock = w // with space again the same directory goes on
		if l, _, err = life(dir, s); err != nil {
			t.Fatal(err)
		}
		w.verify(t, l, 4)
	}
}

var _ Clock = (*stepClock)(nil)
