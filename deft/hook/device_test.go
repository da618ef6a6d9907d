package hook_test

import (
	"testing"
	"time"

	"github.com/foretime/foretime/deft/session"
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

// Two contexts of one device are one client, and a wait for one of them does
// not empty the queue of both; a wait of the hook's own is for both.
func TestContextsOfOneDevice(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe()
	p.do("launch 3")
	p.do("context")
	p.do("launch 3")
	p.do("sync")
	if c := w.client(p); c.Launches != 6 || c.Queued != 6 {
		t.Errorf("after a wait for one of two contexts: %+v", c)
	}
	w.session.Direct(w.client(p).Slot, session.Directive{Closed: true})
	p.send("launch 1")
	w.eventually("stopped", func() bool { return w.client(p).Drained })
	if c := w.client(p); c.Queued != 0 {
		t.Errorf("drained: %+v", c)
	}
	w.session.Direct(w.client(p).Slot, session.Directive{})
	if got := p.answer(); got != "ok" {
		t.Error(got)
	}
	p.exit()
}

// A closed gate lets jobs up to a number go on, and the next one stops.
func TestGateUntilAJob(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe()
	p.do("launch 1")
	w.session.Direct(w.client(p).Slot, session.Directive{Closed: true, UntilJob: 2})
	for _, command := range []string{"launch 2", "sync", "launch 2", "sync"} {
		p.do("%s", command)
	}
	p.send("launch 1")
	w.eventually("stopped", func() bool { return w.client(p).Drained })
	if c := w.client(p); c.Launches != 5 || c.Job != 3 {
		t.Errorf("got %+v", c)
	}
	w.session.Direct(w.client(p).Slot, session.Directive{Closed: true, UntilJob: 3})
	if got := p.answer(); got != "ok" {
		t.Error(got)
	}
	p.exit()
}

// A host function that waits for what the program does after 40 more launches
// does not hang it in a wait of the hook's, be it a synchronization point or
// the bound in flight.
func TestHostFunctionThatWaitsForTheProgram(t *testing.T) {
	for name, d := range map[string]session.Directive{"sync": {SyncEvery: 4}, "in flight": {InFlight: 4}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
			p := w.probe()
			p.do("launch 1")
			w.session.Direct(w.client(p).Slot, d)
			for _, command := range []string{"hostwait", "launch 40", "release", "sync"} {
				p.do("%s", command)
			}
			if c := w.client(p); c.Launches != 41 || c.Queued != 0 {
				t.Errorf("got %+v", c)
			}
			p.exit()
		})
	}
}
