package hook_test

import (
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// onTwoDevices is a world with two devices and a probe that has launched 3
// kernels on each, and those of its clients that are the probe's, in the order
// in which it came to the devices.
func onTwoDevices(t *testing.T) (*world, *probe, func() []session.Client) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	w.device.File += ":" + w.device.File + "-second"
	p := w.probe()
	for _, command := range []string{"launch 3", "device 1", "launch 3"} {
		p.do("%s", command)
	}
	return w, p, func() []session.Client {
		clients := w.session.Clients()
		if len(clients) != 2 || clients[0].PID() != clients[1].PID() || clients[0].Device == clients[1].Device {
			t.Fatalf("clients: %+v", clients)
		}
		return clients
	}
}

// A process has a slot, a gate, counts and memory of its own on each device.
func TestDevicesAreApart(t *testing.T) {
	w, p, clients := onTwoDevices(t)
	p.do("sync")
	if c := clients(); c[0].Launches != 3 || c[0].Queued != 3 || c[1].Launches != 3 || c[1].Queued != 0 {
		t.Errorf("one device waited for: %+v", c)
	}
	p.do("alloc 1000")
	p.do("device 0")
	p.do("alloc 500")
	p.do("free")
	if c := clients(); c[0].MemoryBytes != 0 || c[0].MemoryPeak != 500 || c[1].MemoryBytes != 1000 {
		t.Errorf("memory: %+v", c)
	}
	w.session.Direct(clients()[0].Slot, session.Directive{Closed: true})
	p.do("device 1")
	p.do("launch 5") // the other device's gate is no matter
	p.do("device 0")
	p.send("launch 1")
	w.eventually("stopped", func() bool { return clients()[0].Drained })
	if c := clients(); c[1].Stops != 0 || c[1].Launches != 8 {
		t.Errorf("beside the closed gate: %+v", c[1])
	}
	w.session.Direct(clients()[0].Slot, session.Directive{})
	if got := p.answer(); got != "ok" {
		t.Error(got)
	}
	p.exit()
	if gone := w.reap(); len(gone) != 2 {
		t.Errorf("gone: %+v", gone)
	}
}

// Two contexts of one device are one client: its queue is empty when both are,
// and a context that is destroyed takes what it had queued with it.
func TestContextsOfOneDevice(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe("SIMCUDA_NS_PER_BLOCK=200000") // a kernel takes 200 ms, longer than a busy machine makes wait
	p.do("launch 1")
	p.do("event")
	p.do("context")
	p.do("side 1") // of the first context
	p.do("launch 1")
	p.do("await")
	if c := w.client(p); c.Launches != 3 || c.Queued != 3 || c.State != session.Active {
		t.Errorf("after a wait for one of two contexts: %+v", c)
	}
	w.stopped(p, "launch 1", 4)
	p.do("launch 1")
	p.do("uncontext")
	w.stopped(p, "launch 1", 6)
	for range 3 {
		p.do("launch 2")
		p.do("sync")
		if c := w.client(p); c.Queued != 0 || c.State != session.Idle {
			t.Fatalf("synchronized after the second context: %+v", c)
		}
	}
	p.exit()
}

// stopped closes the gate, gives the probe a launch that meets it, waits until
// the queue is known to be empty, and opens it. The client has made so many
// launches then.
func (w *world) stopped(p *probe, launch string, launches uint64) {
	w.t.Helper()
	slot := w.client(p).Slot
	w.session.Direct(slot, session.Directive{Closed: true})
	p.send("%s", launch)
	w.eventually("drained", func() bool { return w.client(p).Drained })
	if c := w.client(p); c.Queued != 0 || c.Waiting != 1 {
		w.t.Errorf("drained: %+v", c)
	}
	w.session.Direct(slot, session.Directive{})
	if got := p.answer(); got != "ok" {
		w.t.Error(got)
	}
	if c := w.client(p); c.Launches != launches {
		w.t.Errorf("%d launches, want %d", c.Launches, launches)
	}
}

// One to eight streams are drained, also those that were destroyed with work in
// them, and a bound holds over all.
func TestStreams(t *testing.T) {
	for _, n := range []uint64{1, 2, 8} {
		w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
		p := w.probe("SIMCUDA_NS_PER_BLOCK=2000") // a kernel takes 2 ms
		p.do("streams 16 %d", n)
		w.stopped(p, "launch 1", 17)
		p.do("sync")
		begin := session.Now()
		p.do("streams 16 %d", n)
		p.do("unstream")
		w.stopped(p, "launch 1", 34)
		if c := w.client(p); c.DrainedNs-begin < int64(25*time.Millisecond) {
			t.Errorf("%d streams: 16 kernels of 2 ms in destroyed streams drained after %v", n, time.Duration(c.DrainedNs-begin))
		}
		p.do("sync")
		w.session.Direct(w.client(p).Slot, session.Directive{InFlightTime: 4 * unknownKernel})
		begin = session.Now()
		p.do("streams 24 %d", n)
		took := time.Duration(session.Now() - begin)
		if took < 40*time.Millisecond {
			t.Errorf("%d streams: 24 kernels of 2 ms, 4 in flight, were launched in %v", n, took)
		}
		p.exit()
	}
}

// The bound in time follows what kernels take: so many of 20 us that the device
// is busy, few of 2 ms.
func TestInFlightTime(t *testing.T) {
	for _, tt := range []struct {
		nsPerBlock string
		kernels    int
		least      time.Duration // the launches take; the rest is in flight
	}{{"20", 2000, 36 * time.Millisecond}, {"2000", 40, 60 * time.Millisecond}} {
		w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
		p := w.probe("SIMCUDA_NS_PER_BLOCK=" + tt.nsPerBlock)
		p.do("launch 1")
		w.session.Direct(w.client(p).Slot, session.Directive{InFlightTime: 200 * time.Microsecond})
		begin := session.Now()
		p.do("launch %d", tt.kernels)
		if took := time.Duration(session.Now() - begin); took < tt.least {
			t.Errorf("%s ns a block: %d kernels were launched in %v, want at least %v", tt.nsPerBlock, tt.kernels, took, tt.least)
		}
		if c := w.client(p); c.Syncs != 0 || c.Stall <= 0 {
			t.Errorf("%+v", c)
		}
		p.exit()
	}
}

// The device time of a program that launches more slowly than the device works counts its
// kernels, not its host's gaps, if the owner has them timed.
func TestTimed(t *testing.T) {
	// launches returns the device time of launches with gaps, and the time between the
	// first and the last of them.
	launches := func(d session.Directive) (gpu, gaps time.Duration) {
		w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
		p := w.probe("SIMCUDA_NS_PER_BLOCK=20")
		p.do("launch 1")
		p.do("sync")
		w.session.Direct(w.client(p).Slot, d)
		before := w.client(p).GPU
		p.do("launch 1")
		begin := session.Now()
		for range 299 {
			time.Sleep(time.Millisecond)
			p.do("launch 1")
		}
		gaps = time.Duration(session.Now() - begin)
		p.do("sync")
		gpu = w.client(p).GPU - before
		p.exit()
		return gpu, gaps
	}
	if gpu, gaps := launches(session.Directive{}); gpu < gaps {
		t.Errorf("not timed: the device is busy for %v, with gaps of %v", gpu, gaps)
	}
	least := 1.0
	for range 3 { // a sample that is interrupted takes longer
		gpu, gaps := launches(session.Directive{Timed: true})
		least = min(least, gpu.Seconds()/gaps.Seconds())
	}
	if least <= 0 || least > 0.6 {
		t.Errorf("timed: the device is busy for %.2f of the time", least)
	}
}

// A copy that meets the closed gate before the first launch, then a job: the
// queue is known to be empty after it.
func TestCopyBeforeTheFirstLaunch(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	w.session.Direct(0, session.Directive{Closed: true})
	p := w.probe()
	p.do("alloc 8")
	p.send("copy")
	w.eventually("drained", func() bool { return w.client(p).Drained })
	w.session.Direct(0, session.Directive{})
	if got := p.answer(); got != "ok" {
		t.Error(got)
	}
	for range 2 {
		p.do("launch 3")
		p.do("sync")
		if c := w.client(p); c.Queued != 0 || c.State != session.Idle {
			t.Errorf("synchronized: %+v", c)
		}
	}
	p.exit()
}

// A closed gate lets jobs up to a number go on, and the next one stops.
func TestGateUntilAJob(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe()
	p.do("launch 1")
	w.session.Direct(w.client(p).Slot, session.Directive{Closed: true, Until: 2})
	for _, command := range []string{"launch 2", "sync", "launch 2", "sync"} {
		p.do("%s", command)
	}
	p.send("launch 1")
	w.eventually("stopped", func() bool { return w.client(p).Drained })
	if c := w.client(p); c.Launches != 5 || c.Job != 3 {
		t.Errorf("got %+v", c)
	}
	w.session.Direct(w.client(p).Slot, session.Directive{Closed: true, Until: 3})
	if got := p.answer(); got != "ok" {
		t.Error(got)
	}
	p.exit()
}

// A stream that waits for what the program does after 40 more launches does not
// hang it in a wait of the hook's, be it a synchronization point, the bound in
// flight or the closed gate.
func TestStreamThatWaitsForTheProgram(t *testing.T) {
	for name, d := range map[string]session.Directive{
		"sync": {SyncEvery: 4}, "in flight": {InFlightTime: time.Microsecond},
	} {
		for _, how := range []string{"hostwait", "callback", "valuewait"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
				p := w.probe()
				p.do("launch 1")
				w.session.Direct(w.client(p).Slot, d)
				for _, command := range []string{how, "launch 40", "release", "sync"} {
					p.do("%s", command)
				}
				if c := w.client(p); c.Launches != 41 || c.Queued != 0 {
					t.Errorf("got %+v", c)
				}
				p.exit()
			})
		}
	}
}
