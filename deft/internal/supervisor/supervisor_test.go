package supervisor

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/deft/internal/observer"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/session"
)

// fake is a session whose clients the test moves by hand.
type fake struct {
	bell    uint32
	clients []session.Client
	gone    []session.Client
	beats   int
	idled   []int
	waits   []time.Duration
	onWait  func()
}

func (f *fake) Bell() uint32              { return f.bell }
func (f *fake) Clients() []session.Client { return slices.Clone(f.clients) }
func (f *fake) Beat()                     { f.beats++ }
func (f *fake) Hold()                     {}
func (f *fake) Rest(time.Duration)        {}
func (f *fake) IdleAfter() time.Duration  { return 50 * time.Millisecond }

func (f *fake) Wait(seen uint32, timeout time.Duration) (uint32, bool) {
	f.waits = append(f.waits, timeout)
	f.onWait()
	return f.bell, f.bell != seen
}

func (f *fake) Direct(slot int, d session.Directive) bool {
	for i := range f.clients {
		if c := &f.clients[i]; c.Slot == slot && c.Directive != d {
			c.Directive = d
			return true
		}
	}
	return false
}

func (f *fake) Reap() []session.Client {
	gone := f.gone
	f.gone = nil
	return gone
}

func (f *fake) EndIdle(slot int, job uint64) bool {
	f.idled = append(f.idled, slot)
	return true
}

// world is a supervisor over a fake session on a clock that the test sets.
type world struct {
	*fake
	v   *Supervisor
	now int64
}

func newWorld(p policy.Policy, s Settings, clients ...session.Client) *world {
	w := &world{fake: &fake{clients: clients}, now: 1000}
	s.Now = func() int64 { return w.now }
	w.v = New(w.fake, p, s)
	return w
}

func (w *world) pass(ms int) { w.now += int64(ms) * 1e6 }

// begin starts the next job of a client.
func (w *world) begin(i int) {
	c := &w.clients[i]
	c.State, c.JobBeginNs, c.JobKernels = session.Active, w.now, c.Kernels
	c.Job++
}

// end ends it after some launches more.
func (w *world) end(i, launches, syncs int) {
	c := &w.clients[i]
	c.State = session.Idle
	c.JobsEnded++
	launch(c, launches)
	c.Syncs += uint64(syncs)
}

// launch counts launches of one kernel each.
func launch(c *session.Client, n int) {
	c.Launches += uint64(n)
	c.Kernels += uint64(n)
}

func two() []session.Client {
	return []session.Client{
		{Slot: 0, Name: "low", JobMarked: true, Words: session.Words{Epoch: 1, State: session.Idle, Weight: 1}},
		{Slot: 3, Name: "high", JobMarked: true, Words: session.Words{Epoch: 1, State: session.Idle, Weight: 1, Priority: 1}},
	}
}

func TestGatesFollowThePolicy(t *testing.T) {
	w := newWorld(policy.NewPriority(policy.Settings{}), Settings{}, two()...)
	w.begin(0)
	w.begin(1)
	w.v.update()
	if w.clients[0].Directive != (session.Directive{}) || w.v.Decisions() != 0 {
		t.Error("a gate closed before Begin")
	}
	w.v.Begin()
	if got := w.clients[0].Directive; got != (session.Directive{Closed: true, InFlightTime: policy.DefaultInFlight}) {
		t.Errorf("low: %+v", got)
	}
	w.end(1, 10, 0)
	w.v.update()
	if got := w.clients[0].Directive; got != (session.Directive{InFlightTime: policy.DefaultInFlight}) || w.beats != 2 {
		t.Errorf("low: %+v, %d beats", got, w.beats)
	}
}

// What was done before Begin does not count, and what a client did counts after
// it has gone.
func TestTotals(t *testing.T) {
	clients := two()
	launch(&clients[0], 400)
	clients[0].Syncs, clients[0].GPU, clients[0].JobsEnded = 9, time.Second, 1
	w := newWorld(policy.None{}, Settings{Device: func(name string) func(uint64) time.Duration {
		return map[string]func(uint64) time.Duration{"low": func(n uint64) time.Duration { return time.Duration(n) * time.Millisecond }}[name]
	}}, clients...)
	w.v.Begin()
	w.begin(0)
	w.v.update()
	w.end(0, 100, 7)
	w.clients[0].Stall, w.clients[0].AtGate = 5, 6
	w.clients[1].GPU = 3 * time.Second
	w.v.update()
	want := map[string]observer.Totals{
		"low":  {Jobs: 1, Launches: 100, Syncs: 7, Stall: 5, Gate: 6, GPU: 100 * time.Millisecond},
		"high": {GPU: 3 * time.Second},
	}
	if diff := cmp.Diff(want, w.v.Totals()); diff != "" {
		t.Error(diff)
	}
	w.gone = w.clients[:1]
	w.clients = w.clients[1:]
	w.pass(30)
	w.v.update()
	if diff := cmp.Diff(want, w.v.Totals()); diff != "" {
		t.Error(diff)
	}
}

// recorder is a policy that keeps what it is shown.
type recorder struct {
	seen []policy.Client
	next time.Duration
}

func (r *recorder) Decide(now time.Duration, clients []policy.Client, _ []policy.Directive) time.Duration {
	r.seen = slices.Clone(clients)
	if r.next == 0 {
		return policy.Never
	}
	return now + r.next
}

func TestWhatThePolicySees(t *testing.T) {
	r := &recorder{}
	terms := policy.Terms{Name: "low", Weight: 2.5, Deadline: time.Second}
	w := newWorld(r, Settings{Terms: func(name string) (policy.Terms, bool) { return terms, name == "low" }}, two()...)
	w.v.Begin()
	w.pass(5)
	w.begin(0)
	launch(&w.clients[0], 30)
	w.clients[0].Queued = 12
	w.v.update()
	got := r.seen[0]
	want := policy.Client{ID: 1 << 8, Terms: terms, Active: true, Begin: 5 * time.Millisecond, Launches: 30, Job: 1, Started: true, InFlight: 12, Busy: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r.seen[1].Priority != 1 || r.seen[1].ID != 1<<8|3 {
		t.Errorf("a client that nobody described: %+v", r.seen[1])
	}
	// The job ends and the next begins between two looks.
	w.pass(10)
	w.end(0, 370, 20)
	w.clients[0].AtGate = 4 * time.Millisecond
	w.begin(0)
	launch(&w.clients[0], 9)
	w.v.update()
	if r.seen[0].Jobs != 1 || r.seen[0].Begin != 15*time.Millisecond {
		t.Errorf("after one job: %+v", r.seen[0])
	}
	// Three jobs between two looks.
	for range 3 {
		w.pass(6)
		w.end(0, 0, 1)
		w.begin(0)
	}
	w.v.update()
	if r.seen[0].Jobs != 4 {
		t.Errorf("after four jobs: %+v", r.seen[0])
	}
	w.clients[1].State = session.Left
	w.v.update()
	if len(r.seen) != 1 {
		t.Errorf("a client that left is shown: %+v", r.seen)
	}
}

func TestUnmarkedIdleJobsEnd(t *testing.T) {
	w := newWorld(policy.None{}, Settings{}, two()...)
	w.clients[0].JobMarked = false
	w.v.Begin()
	w.begin(0)
	w.begin(1)
	launch(&w.clients[0], 5)
	launch(&w.clients[1], 5)
	w.v.update()
	w.pass(40)
	w.v.update()
	if len(w.idled) != 0 {
		t.Error("ended too early")
	}
	w.pass(20)
	w.v.update()
	if diff := cmp.Diff([]int{0}, w.idled); diff != "" {
		t.Error(diff)
	}
}

// Run looks at every ring, when the policy wants, and every 20 ms; it ends with
// its context.
func TestRun(t *testing.T) {
	r := &recorder{next: 7 * time.Millisecond}
	w := newWorld(r, Settings{}, two()...)
	ctx, cancel := context.WithCancel(t.Context())
	w.onWait = func() {
		switch len(w.waits) {
		case 1:
			w.v.Begin()
		case 2:
			w.begin(0)
			w.bell++
		case 3:
			w.v.mu.Lock()
			r.next = time.Hour
			w.v.mu.Unlock()
		case 4:
			cancel()
		}
	}
	w.v.Run(ctx)
	if diff := cmp.Diff([]time.Duration{20 * time.Millisecond, 7 * time.Millisecond, 7 * time.Millisecond, 20 * time.Millisecond}, w.waits); diff != "" {
		t.Error(diff)
	}
}
