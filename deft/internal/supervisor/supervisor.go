package supervisor

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/foretime/foretime/deft/internal/observer"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/session"
)

// Session is the part of a session that its owner uses.
type Session interface {
	Bell() uint32
	Wait(seen uint32, timeout time.Duration) (bell uint32, rang bool)
	Rest(time.Duration)
	Clients() []session.Client
	Direct(slot int, d session.Directive) (changed bool)
	Beat()
	Reap() []session.Client
	Hold()
	EndIdle(slot int, job uint64) bool
	IdleAfter() time.Duration
}

var _ Session = (*session.Session)(nil)

// Settings holds what the supervisor knows of the clients. The zero value works.
type Settings struct {
	// Terms returns the terms of a client by the name in its slot; ok is false for an unknown
	// one. nil knows nobody.
	Terms func(name string) (t policy.Terms, ok bool)
	// Device is the device time of so many kernels of a client, by its name; nil
	// where it is not known. nil knows none.
	Device func(name string) func(kernels uint64) time.Duration
	// Now is the session's clock, ns; nil is session.Now.
	Now func() int64
	// Forget keeps nothing of clients that have gone, for an owner that stays for months.
	Forget bool
}

const (
	// period is the longest time between two looks while a client has a job, idlePeriod else.
	period     = 20 * time.Millisecond
	idlePeriod = 200 * time.Millisecond
	// A look at more than manyClients is followed by a rest of restTime for each further one,
	// in which rings wait: the owner needs at most a tenth of a processor for 256.
	manyClients = 16
	restTime    = 24 * time.Microsecond
)

// Supervisor applies a policy to a session. Begin and Totals may be called while Run runs.
type Supervisor struct {
	session  Session
	policy   policy.Policy
	settings Settings

	mu        sync.Mutex
	began     int64 // ns; 0 before Begin
	observers map[int]*observer.Observer
	gone      map[string]observer.Totals // by name, of those that have gone
	decisions int
	next      int64 // when to ask the policy, ns
	reapAt    int64
}

// New returns a supervisor that does not yet ask the policy: until Begin all
// gates stay open.
func New(s Session, p policy.Policy, settings Settings) *Supervisor {
	if settings.Now == nil {
		settings.Now = session.Now
	}
	return &Supervisor{session: s, policy: p, settings: settings, observers: map[int]*observer.Observer{}, gone: map[string]observer.Totals{}}
}

// Begin lets the policy decide, now and from now on, and counts from now on: what the
// clients did before, as a warm-up, is left out of their totals.
func (v *Supervisor) Begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.observers = map[int]*observer.Observer{}
	v.began = v.settings.Now()
	for _, c := range v.session.Clients() {
		v.observers[ID(c)] = v.newObserver(c)
	}
	v.session.Hold()
	v.decide(v.began) // before the first launch, not at the next look
}

// Run supervises until ctx is done. It is to be called once.
func (v *Supervisor) Run(ctx context.Context) {
	bell := v.session.Bell()
	for ctx.Err() == nil {
		wait, clients := v.update()
		if rest := restTime * time.Duration(clients-manyClients); rest > 0 {
			v.session.Rest(rest)
		}
		bell, _ = v.session.Wait(bell, wait)
	}
}

// update does what is due and returns how long to wait for a ring, and the number of clients.
func (v *Supervisor) update() (wait time.Duration, clients int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.session.Beat()
	now := v.settings.Now()
	if now >= v.reapAt {
		v.reap()
		v.reapAt = now + int64(period)
	}
	if v.began == 0 {
		return period, 0
	}
	longest := idlePeriod
	if v.decide(now) {
		longest = period
	}
	return min(longest, max(time.Duration(v.next-v.settings.Now()), 0)), len(v.observers)
}

// reap frees the slots of those who have gone and keeps their totals.
func (v *Supervisor) reap() {
	for _, c := range v.session.Reap() {
		o, known := v.observers[ID(c)]
		if !known {
			o = v.newObserver(session.Client{Name: c.Name, Slot: c.Slot, Words: session.Words{Epoch: c.Epoch}})
		}
		if v.began != 0 && !v.settings.Forget {
			v.gone[c.Name] = v.gone[c.Name].Add(o.Totals(c))
		}
		delete(v.observers, ID(c))
	}
}

// decide asks the policy about the clients that are there, and returns whether any has a job.
func (v *Supervisor) decide(now int64) (active bool) {
	live := v.session.Clients()
	live = slices.DeleteFunc(live, func(c session.Client) bool { return c.State != session.Idle && c.State != session.Active })
	slices.SortFunc(live, func(a, b session.Client) int { return cmp.Compare(ID(a), ID(b)) })
	at := time.Duration(now - v.began)
	clients := make([]policy.Client, len(live))
	for i, c := range live {
		o, known := v.observers[ID(c)]
		if !known {
			o = v.newObserver(c)
			v.observers[ID(c)] = o
		}
		clients[i] = o.Observe(c, v.began, now)
		clients[i].ID = ID(c)
		active = active || clients[i].Active || clients[i].Busy
		if o.IsIdle(c, now, v.session.IdleAfter()) {
			v.session.EndIdle(c.Slot, c.Job)
		}
	}
	directives := make([]policy.Directive, len(clients))
	next := v.policy.Decide(at, clients, directives)
	v.decisions++
	for i, c := range live {
		v.session.Direct(c.Slot, directives[i])
	}
	v.next = now + int64(idlePeriod)
	if next < time.Duration(v.next-v.began) {
		v.next = v.began + int64(next)
	}
	return active
}

// newObserver begins to observe a client.
func (v *Supervisor) newObserver(c session.Client) *observer.Observer {
	var terms *policy.Terms
	if v.settings.Terms != nil {
		if t, known := v.settings.Terms(c.Name); known {
			terms = &t
		}
	}
	var kernels func(uint64) time.Duration
	if v.settings.Device != nil {
		kernels = v.settings.Device(c.Name)
	}
	return observer.New(c, terms, kernels)
}

// Totals returns the totals of all clients since Begin by name, including those that have gone;
// clients of one name are added up.
func (v *Supervisor) Totals() map[string]observer.Totals {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := maps.Clone(v.gone)
	for _, c := range v.session.Clients() {
		if o, ok := v.observers[ID(c)]; ok {
			all[c.Name] = all[c.Name].Add(o.Totals(c))
		}
	}
	return all
}

// Decisions returns the number of decisions of the policy.
func (v *Supervisor) Decisions() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.decisions
}

// ID returns the number of a client in requests to the policy. It differs between clients that
// had the same slot.
func ID(c session.Client) int { return int(c.Epoch)<<8 | c.Slot }
