package hook_test

import (
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// A client whose gap was given to others rings at its next launch, graph or copy, once,
// and does not wait.
func TestWatchedGate(t *testing.T) {
	for _, command := range []string{"launch 3", "graphs 2 10", "copy"} {
		t.Run(command, func(t *testing.T) {
			w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
			p := w.probe()
			p.do("alloc 64")
			p.do("launch 1")
			c := w.client(p)
			if !w.session.Direct(c.Slot, session.Directive{Watch: true}) || !w.session.Directive(c.Slot).Watch {
				t.Fatal("the directive is not in force")
			}
			bell := w.session.Bell()
			p.do("%s", command)
			c = w.client(p)
			if c.Directive.Watch || w.session.Bell() != bell+1 || c.Stops != 0 {
				t.Errorf("rang %d times; %+v", w.session.Bell()-bell, c)
			}
			p.do("launch 2")
			if w.session.Bell() != bell+1 {
				t.Error("rang again")
			}
			p.exit()
		})
	}
}

// The session says that a thread waits in the driver, and how many kernels a launch has.
func TestWaitsAreSeen(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe("SIMCUDA_NS_PER_BLOCK=20000")
	p.do("launch 50") // 1 s
	if c := w.client(p); c.InWait != 0 || c.MostKernels != 1 {
		t.Errorf("%+v", c)
	}
	p.send("sync")
	w.eventually("waiting", func() bool { return w.client(p).InWait == 1 })
	if got := p.answer(); got != "ok" {
		t.Error(got)
	}
	if c := w.client(p); c.InWait != 0 || c.Queued != 0 {
		t.Errorf("after the wait: %+v", c)
	}
	p.do("graphs 1 7")
	if c := w.client(p); c.MostKernels != 7 {
		t.Errorf("a graph of 7 kernels: %+v", c)
	}
	p.exit()
}

// A launch that waits for room when the gate closes does not pass it.
func TestGateClosesAtTheBound(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe("SIMCUDA_NS_PER_BLOCK=100000") // a kernel takes 0.1 s
	p.do("launch 1")
	slot := w.client(p).Slot
	w.session.Direct(slot, session.Directive{InFlightTime: 1})
	p.send("launch 300")
	waits := func(c session.Client) bool { return c.InWait == 1 }
	for closed := false; !closed; { // during one wait
		w.session.Direct(slot, session.Directive{InFlightTime: 1})
		w.eventually("waiting for room", func() bool { return waits(w.client(p)) })
		before := w.client(p)
		w.session.Direct(slot, session.Directive{InFlightTime: 1, Closed: true})
		after := w.client(p)
		closed = waits(before) && waits(after) && before.Launches == after.Launches
		w.eventually("drained", func() bool { return w.client(p).Drained })
		if c := w.client(p); closed && c.Launches != before.Launches {
			t.Errorf("%d launches, want %d: %+v", c.Launches, before.Launches, c)
		}
	}
	p.kill()
}
