package daemon

import (
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
	paused map[int]bool // by ID
}

var _ policy.Policy = (*board)(nil)

func newBoard(name string) (*board, error) {
	b := &board{paused: map[int]bool{}}
	return b, b.use(name)
}

// use exchanges the policy for another at the beginning of its memory.
func (b *board) use(name string) error {
	p, err := policy.New(name, policy.Settings{})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.name, b.policy = name, p
	return nil
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
