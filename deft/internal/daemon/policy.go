package daemon

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/foretime/foretime/deft/internal/policy"
)

// control holds the policy in force, which can be replaced, and the clients that are paused
// regardless of it.
type control struct {
	mu     sync.Mutex
	name   string
	policy policy.Policy
	rules  policy.Settings
	paused map[int]bool // by ID

	decided time.Duration         // time of the last decision
	closing map[int]bool          // clients whose gate it closed, by ID
	closed  map[int]time.Duration // how long each client's gate was closed, by ID
}

var _ policy.Policy = (*control)(nil)

func newControl(name string, rules policy.Settings) (*control, error) {
	b := &control{paused: map[int]bool{}, rules: rules, closing: map[int]bool{}, closed: map[int]time.Duration{}}
	return b, b.setPolicy(name, 0)
}

// setPolicy replaces the policy by another one without history. A slack of 0 changes
// nothing.
func (b *control) setPolicy(name string, slack float64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	rules := b.rules
	if slack != 0 {
		rules.Slack = slack
	}
	p, err := policy.New(name, rules)
	if err != nil {
		return err
	}
	b.name, b.rules = name, rules
	b.policy = p
	return nil
}

// Decide applies the policy to the clients that are not paused.
func (b *control) Decide(now time.Duration, clients []policy.Client, directives []policy.Directive) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	present := map[int]bool{}
	for i, c := range clients {
		present[c.ID] = true
		directives[i].Closed = b.paused[c.ID]
	}
	maps.DeleteFunc(b.paused, func(id int, _ bool) bool { return !present[id] })
	isFree := func(c policy.Client) bool { return !b.paused[c.ID] }
	next := policy.DecideFor(now, clients, directives, isFree, b.policy.Decide)
	b.count(now, clients, directives)
	return next
}

// count adds the time since the last decision to that of the gates which it closed.
func (b *control) count(now time.Duration, clients []policy.Client, directives []policy.Directive) {
	closed := map[int]time.Duration{}
	for _, c := range clients {
		closed[c.ID] = b.closed[c.ID]
		if b.closing[c.ID] {
			closed[c.ID] += now - b.decided
		}
	}
	clear(b.closing)
	for i, c := range clients {
		b.closing[c.ID] = directives[i].Closed
	}
	b.decided, b.closed = now, closed
}

// gateClosed returns how long the gate of a client was closed until the last decision.
func (b *control) gateClosed(id int) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed[id]
}

// pause pauses a client or resumes it.
func (b *control) pause(id int, on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if on {
		b.paused[id] = true
	} else {
		delete(b.paused, id)
	}
}

// state returns the policy's name, the slack in force and the paused clients.
func (b *control) state() (name string, slack float64, paused []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.name, cmp.Or(b.rules.Slack, policy.DefaultSlack), slices.Sorted(maps.Keys(b.paused))
}
