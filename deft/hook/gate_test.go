package hook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// A closed gate stops the next launch, drains the queue and says so; an open
// one lets it go on.
func TestGate(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe("DEFT_PRIORITY=-2", "DEFT_WEIGHT=3", "DEFT_NAME=low job", "DEFT_SLO_MS=1000")
	p.do("launch 5")
	c := w.client(p)
	if c.Launches != 5 || c.Queued != 5 || c.State != session.Active || c.Job != 1 || c.Priority != -2 || c.Weight != 3 || c.Name != "low job" {
		t.Fatalf("after 5 launches: %+v", c)
	}
	if c.DeadlineNs-c.JobBeginNs != int64(time.Second) {
		t.Errorf("deadline %d after the beginning", c.DeadlineNs-c.JobBeginNs)
	}
	bell := w.session.Bell()
	if !w.session.Direct(c.Slot, session.Directive{Closed: true}) || w.session.Direct(c.Slot, session.Directive{Closed: true}) {
		t.Error("Direct does not tell what is new")
	}
	p.send("launch 3")
	w.eventually("drained", func() bool { return w.client(p).Drained })
	if w.session.Bell() == bell {
		t.Error("nobody rang")
	}
	c = w.client(p)
	if c.Launches != 5 || c.Queued != 0 || !c.Drained && c.Queued != 0 || c.Waiting != 1 || c.Stops != 1 {
		t.Errorf("at the gate: %+v", c)
	}
	w.session.Direct(c.Slot, session.Directive{Closed: true, SyncEvery: 7})
	w.eventually("drained under the new directive", func() bool { return w.client(p).Drained })
	w.session.Direct(c.Slot, session.Directive{})
	if got := p.answer(); got != "ok" {
		t.Error(got)
	}
	c = w.client(p)
	if c.Launches != 8 || c.Waiting != 0 || c.Drained || c.AtGate <= 0 || c.FailedOpen != 0 {
		t.Errorf("after the gate: %+v", c)
	}
	p.do("sync")
	c = w.client(p)
	if c.State != session.Idle || c.Queued != 0 || c.JobsEnded != 1 || c.OwnSyncs != 1 || c.GPU <= 0 {
		t.Errorf("after synchronization: %+v", c)
	}
	p.exit()
	if gone := w.reap(); len(gone) != 1 || gone[0].Launches != 8 || gone[0].State != session.Left {
		t.Errorf("gone: %+v", gone)
	}
}

// One synchronization point for every N launches, before the next one; the
// program's own synchronization counts as one.
func TestSyncEvery(t *testing.T) {
	for _, tt := range []struct {
		every    int
		commands string
		syncs    uint64
	}{
		{1, "launch 10", 9},
		{4, "launch 10", 2},
		{10, "launch 10", 0},
		{10, "launch 11", 1},
		{4, "launch 4,sync,launch 4,sync,launch 5", 1},
		{1000000, "launch 100", 0},
		{4, "side 4,launch 4,side 4", 2},
	} {
		t.Run(tt.commands, func(t *testing.T) {
			w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
			w.session.Direct(0, session.Directive{SyncEvery: tt.every})
			p := w.probe()
			for command := range strings.SplitSeq(tt.commands, ",") {
				p.do("%s", command)
			}
			if c := w.client(p); c.Syncs != tt.syncs || tt.syncs > 0 && c.Stall <= 0 {
				t.Errorf("got %+v", c)
			}
			p.exit()
		})
	}
}

// unknownKernel is the device time of a kernel before the hook has measured any (KERNEL_NS).
const unknownKernel = 12500 * time.Nanosecond

// The bound holds in the driver: never more launches queued than asked. Kernels take
// 50 us, longer than their launches on any machine, so queues fill.
func TestInFlight(t *testing.T) {
	for _, bound := range []time.Duration{1, 2 * unknownKernel, 3 * unknownKernel, 16 * unknownKernel, time.Second} {
		w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
		w.session.Direct(0, session.Directive{InFlightTime: bound})
		p := w.probe("SIMCUDA_NS_PER_BLOCK=50")
		p.do("launch 100")
		p.do("side 50")
		p.do("threads 50")
		p.do("sync")
		if c := w.client(p); c.Launches != 350 || c.Syncs != 0 || bound < time.Second && c.Stall <= 0 {
			t.Errorf("bound %v: %+v", bound, c)
		}
		p.exit()
	}
}

// What the hook says is done is done: with kernels of 20 ms no device is faster
// than the directives allow.
func TestBoundsHoldOnTheDevice(t *testing.T) {
	const kernel = 20 * time.Millisecond
	for _, tt := range []struct {
		name string
		d    session.Directive
		done int // kernels that must be done before the last of ten is launched
	}{
		{"nothing asked", session.Directive{}, 0},
		{"sync every launch", session.Directive{SyncEvery: 1}, 9},
		{"sync every 4", session.Directive{SyncEvery: 4}, 8},
		{"1 in flight", session.Directive{InFlightTime: 1}, 9},
		{"4 in flight", session.Directive{InFlightTime: 4 * unknownKernel}, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
			w.session.Direct(0, tt.d)
			p := w.probe("SIMCUDA_NS_PER_BLOCK=20000") // the probe's kernels have 1000 blocks
			begin := time.Now()
			p.do("launch 10")
			if took := time.Since(begin); took < time.Duration(tt.done)*kernel {
				t.Errorf("the last launch came after %v", took)
			}
			w.session.Direct(0, session.Directive{Closed: true})
			p.send("side 1")
			w.eventually("drained", func() bool { return w.client(p).Drained })
			if c := w.client(p); c.DrainedNs-c.JobBeginNs < int64(10*kernel) {
				t.Errorf("drained after %v", time.Duration(c.DrainedNs-c.JobBeginNs))
			}
			p.kill()
		})
	}
}

// A program that waits at its bound, or at a synchronization point, is seen to wait for the
// device, for as long as it does.
func TestWaitsForADirective(t *testing.T) {
	for name, d := range map[string]session.Directive{"bound": {InFlightTime: 1}, "interval": {SyncEvery: 1}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
			w.session.Direct(0, d)
			p := w.probe("SIMCUDA_NS_PER_BLOCK=20000")
			p.do("launch 1")
			p.send("launch 900") // 18 s, unless it is let go
			w.eventually("waiting", func() bool { return w.client(p).InWait == 1 })
			w.session.Direct(w.client(p).Slot, session.Directive{})
			w.eventually("launched", func() bool { c := w.client(p); return c.Launches == 901 && c.InWait == 0 })
			p.kill()
		})
	}
}

// Launches in several threads' own default streams are drained, all of them.
func TestPerThreadStreamsDrain(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe()
	p.do("own threads 10")
	p.do("own launch 1")
	c := w.client(p)
	w.session.Direct(c.Slot, session.Directive{Closed: true})
	p.send("own launch 1")
	w.eventually("drained", func() bool { return w.client(p).Drained })
	if c := w.client(p); c.Queued != 0 || c.Launches != 41 {
		t.Errorf("got %+v", c)
	}
	w.session.Direct(c.Slot, session.Directive{})
	if got := p.answer(); got != "ok" {
		t.Error(got)
	}
	p.exit()
}

// A stream that captures never waits, not even at a closed gate; others of the
// process do, and leave the capture whole.
func TestCaptureIsNeverDisturbed(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	w.session.Direct(0, session.Directive{SyncEvery: 1, InFlightTime: 1})
	for _, way := range []string{"graph", "capture"} {
		w.run(w.command(w.clients.Client, way, "10"))
		gone := w.reap()
		if len(gone) != 1 || gone[0].Captured == 0 {
			t.Errorf("%s: %+v", way, gone)
		}
		w.session.Direct(0, session.Directive{SyncEvery: 1, InFlightTime: 1})
	}
	p := w.probe()
	p.do("capture")
	c := w.client(p)
	w.session.Direct(c.Slot, session.Directive{Closed: true, SyncEvery: 1})
	p.do("side 5")
	p.do("ex 3")
	p.do("coop 2")
	if c := w.client(p); c.Captured != 10 || c.Launches != 0 || c.Stops != 0 || c.Syncs != 0 {
		t.Errorf("in the capture: %+v", c)
	}
	p.send("launch 5") // in a stream that captures nothing
	w.eventually("stopped beside a capture", func() bool { return w.client(p).Drained })
	w.session.Direct(c.Slot, session.Directive{SyncEvery: 1, InFlightTime: 1})
	if got := p.answer(); got != "ok" {
		t.Error(got)
	}
	if c := w.client(p); c.Launches != 5 || c.Stops != 1 || c.Syncs != 4 {
		t.Errorf("beside the capture: %+v", c)
	}
	w.session.Direct(c.Slot, session.Directive{Closed: true, SyncEvery: 1})
	p.do("uncapture")
	p.send("launch 1")
	w.eventually("stopped once the capture has ended", func() bool { return w.client(p).Waiting == 1 })
	w.session.Direct(c.Slot, session.Directive{})
	if got := p.answer(); got != "ok" {
		t.Error(got)
	}
	p.exit()
}

func TestMarkedJobs(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe()
	p.do("begin 20")
	c := w.client(p)
	if c.State != session.Active || !c.JobMarked || c.Job != 1 || c.DeadlineNs-c.JobBeginNs != int64(20*time.Millisecond) {
		t.Errorf("begun: %+v", c)
	}
	p.do("launch 3")
	p.do("sync")
	if c := w.client(p); c.State != session.Active || c.Job != 1 {
		t.Errorf("a synchronization ended a marked job: %+v", c)
	}
	if w.session.EndIdle(c.Slot, 1) {
		t.Error("EndIdle ended a marked job")
	}
	bell := w.session.Bell()
	rings := func(want uint32) {
		t.Helper()
		now := w.session.Bell()
		if now-bell != want {
			t.Errorf("%d rings, want %d", now-bell, want)
		}
		bell = now
	}
	p.do("begin 0")
	rings(2) // one ends, one begins
	if c := w.client(p); c.Job != 2 || c.JobsEnded != 1 || c.JobKernels != 3 || c.DeadlineNs != 0 {
		t.Errorf("begun again: %+v", c)
	}
	p.do("end")
	rings(1)
	p.do("end")
	p.do("launch 1")
	rings(0)
	if c := w.client(p); c.State != session.Idle || c.JobsEnded != 2 || c.Job != 2 {
		t.Errorf("ended: %+v", c)
	}
	p.exit()
}

// However a program waits, its queue is known to be empty then, and its job has ended.
func TestWaitsEndJobs(t *testing.T) {
	for _, tt := range []struct{ name, before, wait string }{
		{"synchronization", "", "sync"},
		{"event", "event", "await"},
		{"polled event", "event", "pollevent"},
		{"polled stream", "", "poll"},
		{"fetched results", "", "fetch"},
		{"copy without a direction", "", "read"},
		{"host function", "", "called"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
			p := w.probe("SIMCUDA_NS_PER_BLOCK=20000") // a kernel takes 20 ms
			p.do("alloc 8")
			for i := range uint64(3) {
				p.do("launch 3")
				if tt.before != "" {
					p.do("%s", tt.before)
				}
				p.do("%s", tt.wait)
				if c := w.client(p); c.State != session.Idle || c.Queued != 0 || c.JobsEnded != i+1 || c.OwnSyncs != i+1 || c.InWait != 0 {
					t.Fatalf("after wait %d: %+v", i+1, c)
				}
			}
			p.exit()
		})
	}
}

// A program that waits for an event has work left if something was launched elsewhere.
func TestWaitBesideAnotherStream(t *testing.T) {
	for _, wait := range []string{"await", "pollevent", "poll", "called"} {
		t.Run(wait, func(t *testing.T) {
			w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
			p := w.probe("SIMCUDA_NS_PER_BLOCK=100000") // a kernel takes 100 ms
			p.do("launch 1")
			p.do("event")
			p.do("side 3")
			p.do("%s", wait)
			if c := w.client(p); c.Queued == 0 || c.JobsEnded != 0 || c.State != session.Active {
				t.Errorf("waited beside another stream: %+v", c)
			}
			p.do("sync")
			if c := w.client(p); c.Queued != 0 || c.JobsEnded != 1 {
				t.Errorf("synchronized: %+v", c)
			}
			p.exit()
		})
	}
}

// A thread that has asked in vain waits until it launches again.
func TestRefusedQueryIsAWait(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe("SIMCUDA_NS_PER_BLOCK=1000000") // a kernel takes 1 s
	p.do("event")
	p.do("launch 50")
	p.do("event")
	p.do("query")
	if c := w.client(p); c.InWait != 1 {
		t.Errorf("a query was refused, and %d threads wait, want 1", c.InWait)
	}
	p.do("launch 1")
	if c := w.client(p); c.InWait != 0 {
		t.Errorf("launched again, and %d threads wait", c.InWait)
	}
	p.exit()
}

// The owner ends a job whose program launches nothing and does not wait.
func TestIdleJobs(t *testing.T) {
	w := newWorld(t, session.Options{IdleAfter: time.Minute, OwnerTimeout: time.Hour})
	p := w.probe()
	p.do("launch 3")
	c := w.client(p)
	if c.State != session.Active || c.Job != 1 || w.session.IdleAfter() != time.Minute {
		t.Fatalf("after launches: %+v", c)
	}
	if w.session.EndIdle(c.Slot, 2) || !w.session.EndIdle(c.Slot, 1) || w.session.EndIdle(c.Slot, 1) {
		t.Error("EndIdle ends another job than the one named")
	}
	p.do("launch 1")
	if c := w.client(p); c.State != session.Active || c.Job != 2 || c.JobsEnded != 1 {
		t.Errorf("begun again: %+v", c)
	}
	p.exit()
}

func TestMemoryQuota(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe("DEFT_MEMORY_QUOTA=1000000")
	p.do("alloc 600000")
	p.send("alloc 600000")
	if got := p.answer(); got != "error 2" {
		t.Errorf("beyond the quota: %s", got)
	}
	p.send("info")
	if got := p.answer(); got != "ok 1000000 400000" {
		t.Errorf("info: %s", got)
	}
	c := w.client(p)
	if c.MemoryBytes != 600000 || c.MemoryPeak != 600000 || c.MemoryRefused != 1 {
		t.Errorf("got %+v", c)
	}
	p.exit()
}

// However many allocations there are, all of them count.
func TestMemoryQuotaOfManyAllocations(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe("DEFT_MEMORY_QUOTA=50000")
	p.do("allocs 20000 2")
	p.send("alloc 10001")
	if got := p.answer(); got != "error 2" {
		t.Errorf("beyond the quota: %s", got)
	}
	p.do("alloc 10000")
	if c := w.client(p); c.MemoryBytes != 50000 || c.MemoryRefused != 1 {
		t.Errorf("got %+v", c)
	}
	p.exit()
}

// Memory by handle counts until its handle is released and nothing is mapped to it,
// in whatever order.
func TestMemoryQuotaOfMappedMemory(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe("DEFT_MEMORY_QUOTA=1000000")
	for _, step := range []struct {
		say   string
		bytes uint64
	}{
		{"create 600000", 600000}, {"map 300000 0", 600000}, {"map 300000 300000", 600000},
		{"let", 600000}, {"retain", 600000}, {"unmap 300000", 600000}, {"let", 600000},
		{"create 400000", 1000000}, {"let", 600000},
	} {
		p.do("%s", step.say)
		if got := w.client(p).MemoryBytes; got != step.bytes {
			t.Errorf("after %s: %d bytes, want %d", step.say, got, step.bytes)
		}
	}
	p.exit()

	p = w.probe("DEFT_MEMORY_QUOTA=1000000")
	p.do("create 600000")
	p.do("map 300000 0")
	p.do("map 300000 300000")
	p.do("let")
	p.send("alloc 600000")
	if got := p.answer(); got != "error 2" {
		t.Errorf("beyond the quota: %s", got)
	}
	p.do("unmap 600000") // both at once
	p.do("alloc 600000")
	p.exit()
}

// Arrays are memory too, and the device seems to have as much as the quota.
func TestMemoryQuotaOfArrays(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	p := w.probe("DEFT_MEMORY_QUOTA=1000")
	p.do("array 10 20")
	p.send("array 10 21")
	if got := p.answer(); got != "error 2" {
		t.Errorf("beyond the quota: %s", got)
	}
	p.send("total")
	if got := p.answer(); got != "ok 1000" {
		t.Errorf("total: %s", got)
	}
	if c := w.client(p); c.MemoryBytes != 800 {
		t.Errorf("got %+v", c)
	}
	p.exit()
}

// Pools of host memory (locations 2 to 4) are no part of the quota of device memory.
func TestMemoryQuotaOfPools(t *testing.T) {
	w := newWorld(t, session.Options{})
	cmd := w.command(compileTest(t, "pool", "pool.c"), "2", "3", "4", "1", "2", "1")
	cmd.Env = append(cmd.Env, "DEFT_MEMORY_QUOTA=1500000")
	if out := w.run(cmd); out != "0 0 0 0 0 2 " {
		t.Errorf("got %q", out)
	}
}
