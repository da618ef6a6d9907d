package daemon

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/foretime/foretime/deft/internal/policy"
)

// board is the policy in force, which may be exchanged, and the clients that
// are held whatever it says.
type board struct {
	mu     sync.Mutex
	name   string
	policy policy.Policy
	rules  policy.Settings
	paused map[int]bool // by ID
}

var _ policy.Policy = (*board)(nil)

func newBoard(name string, rules policy.Settings) (*board, error) {
	b := &board{paused: map[int]bool{}, rules: rules}
	return b, b.use(name, 0)
}

// use exchanges the policy for another at the beginning of its memory. A slack of 0
// stays as it is.
func (b *board) use(name string, slack float64) error {
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
	b.name, b.policy, b.rules = name, p, rules
	return nil
}

// slack returns the slack in force.
func (b *board) slack() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return cmp.Or(b.rules.Slack, policy.DefaultSlack)
}

// Decide asks the policy about the clients that are not held.
func (b *board) Decide(now time.Duration, clients []policy.Client, directives []policy.Directive) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	var free []policy.Client
	var at []int
	present := map[int]bool{}
	for i, c := range clients {
		if present[c.ID] = b.paused[c.ID]; present[c.ID] {
			directives[i].Closed = true
			continue
		}
		free, at = append(free, c), append(at, i)
	}
	maps.DeleteFunc(b.paused, func(id int, _ bool) bool { return !present[id] })
	asked := make([]policy.Directive, len(free))
	next := b.policy.Decide(now, free, asked)
	for k, i := range at {
		directives[i] = asked[k]
	}
	return next
}

// pause holds a client.
func (b *board) pause(id int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paused[id] = true
}

// resume lets clients go on.
func (b *board) resume(ids ...int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		delete(b.paused, id)
	}
}

// state is the policy's name and who is held.
func (b *board) state() (name string, paused []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.name, slices.Sorted(maps.Keys(b.paused))
}
