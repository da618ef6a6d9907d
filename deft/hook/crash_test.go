package hook_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// How often each role is killed.
const kills = 50

// A client at the closed gate goes on when the owner is killed.
func TestKillOwner(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe()
	p.do("launch 1")
	for i := range kills {
		o := w.owner()
		o.direct(0, session.Directive{Closed: true})
		p.send("launch 1")
		w.eventually("stopped", func() bool { return w.client(p).Drained })
		if i%2 == 0 {
			o.kill()
		}
		o.zombify()
		if got := p.answer(); got != "ok" {
			t.Fatal(got)
		}
		p.do("launch 1") // passes the closed gate of a dead owner
		o.kill()
		if c := w.client(p); c.FailedOpen != uint64(i+1) || c.Waiting != 0 {
			t.Fatalf("kill %d: %+v", i, c)
		}
	}
	p.exit()
}

// Neither does one that is killed while it changes directives, at any point.
func TestKillOwnerAmidDirectives(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe()
	p.do("launch 1")
	random := rand.New(rand.NewPCG(1, 2))
	for range kills {
		o := w.owner()
		o.storm()
		p.send("threads 100")
		time.Sleep(time.Duration(random.IntN(5000)) * time.Microsecond)
		o.kill()
		if got := p.answer(); got != "ok" {
			t.Fatal(got)
		}
	}
	if c := w.client(p); c.Launches != 1+kills*400 || c.Waiting != 0 {
		t.Errorf("got %+v", c)
	}
	p.exit()
}

// An owner that hangs loses its say as well, after the session's time.
func TestOwnerThatDoesNotBeat(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Millisecond})
	w.session.Direct(0, session.Directive{Closed: true})
	p := w.probe()
	p.do("launch 3")
	if c := w.client(p); c.Launches != 3 {
		t.Errorf("got %+v", c)
	}
	p.exit()
}

// An owner that ends in good order opens the gates.
func TestOwnerThatLeaves(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	w.session.Direct(0, session.Directive{Closed: true})
	p := w.probe()
	p.send("launch 3")
	w.eventually("stopped", func() bool { return len(w.session.Clients()) == 1 && w.client(p).Drained })
	w.session.Disown()
	if got := p.answer(); got != "ok" {
		t.Error(got)
	}
	if w.session.OwnerAlive() {
		t.Error("an owner that has left is alive")
	}
	if err := w.session.Own(); err != nil {
		t.Error(err)
	}
	p.exit()
}

// Whichever client is killed, at the gate, amid launches or in a job, the
// owner sees it and the other goes on.
func TestKillClient(t *testing.T) {
	for _, tt := range []struct {
		role   string
		closed bool   // the victim stands at the gate
		last   string // what it is killed at
	}{
		{"low, at the gate", true, "launch 3"},
		{"low, launching", false, "launch 1000000"},
		{"high, in a job", false, "begin 0"},
	} {
		t.Run(tt.role, func(t *testing.T) {
			w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
			other := w.probe()
			other.do("launch 1")
			for i := range kills {
				victim := w.probe()
				victim.do("launch 1")
				slot := w.client(victim).Slot
				if tt.closed {
					w.session.Direct(slot, session.Directive{Closed: true})
				}
				victim.send("%s", tt.last)
				w.eventually("at it", func() bool {
					c := w.client(victim)
					return c.Drained || !tt.closed && (c.Launches > uint64(i) || c.JobMarked)
				})
				victim.kill()
				gone := w.reap()
				if len(gone) != 1 || gone[0].Slot != slot || gone[0].State == session.Left {
					t.Fatalf("kill %d: gone %+v", i, gone)
				}
				other.do("launch 1")
				if c := w.client(other); c.Launches != uint64(i+2) {
					t.Fatalf("kill %d: the other %+v", i, c)
				}
			}
			other.exit()
		})
	}
}
