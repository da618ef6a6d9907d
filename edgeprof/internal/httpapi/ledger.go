package httpapi

import (
	"cmp"
	"sync"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/placement"
)

// Bounds of a ledger.
const (
	maxOpen = 100_000        // predictions
	openFor = 24 * time.Hour // after which no outcome is expected any more
)

// ledger holds the predictions that this process answered and whose outcome nobody
// posted: an outcome counts for one of them, once. The oldest are dropped when there
// are too many.
type ledger struct {
	mu    sync.Mutex
	open  map[made]int
	order []dated // a ring, the oldest at next
	next  int
}

// made is a prediction as a client read it.
type made struct {
	node                    string
	value, low, high, level float64
}

type dated struct {
	made
	at     time.Time
	factor float64 // by which the interval had been widened
}

func madeOf(c *placement.Candidate) made {
	p := c.Seconds
	return made{c.Node, p.Value, p.Low, p.High, p.Level}
}

// add takes in the predictions of an answer. Those without ends teach nothing.
func (l *ledger) add(now time.Time, candidates []placement.Candidate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[made]int{}
	}
	for i := range candidates {
		if !candidates[i].Seconds.IsBounded() {
			continue
		}
		d := dated{madeOf(&candidates[i]), now, cmp.Or(candidates[i].Width, 1)}
		l.open[d.made]++
		if len(l.order) < maxOpen {
			l.order = append(l.order, d)
			continue
		}
		l.drop(l.order[l.next].made)
		l.order[l.next] = d
		l.next = (l.next + 1) % maxOpen
	}
}

// drop ends one prediction, and reports whether it was open.
func (l *ledger) drop(m made) bool {
	n := l.open[m]
	if n > 1 {
		l.open[m] = n - 1
	} else {
		delete(l.open, m)
	}
	return n > 0
}

// settle ends the latest prediction that is as the client says and returns by how
// much its interval had been widened; false if an outcome can have none.
func (l *ledger) settle(now time.Time, m made) (factor float64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[m] == 0 {
		return 0, false
	}
	for i := range l.order {
		// From the newest to the oldest.
		d := &l.order[(l.next-1-i+2*len(l.order))%len(l.order)]
		if d.made != m {
			continue
		}
		d.made = made{} // no prediction
		return d.factor, l.drop(m) && now.Sub(d.at) <= openFor
	}
	return 0, false
}
