package policy

import "time"

// Quota holds each client that has a share to that share of the device's time,
// whether or not others want the rest: a token bucket of device time that fills
// at the share and holds that of burst at most. A client whose bucket is empty
// stops until there is something in it again. It is not work conserving.
type Quota struct{ buckets map[int]bucket }

// burst is the time over which a share is kept; set by hand, as refill is.
const burst = 50 * time.Millisecond

var _ Policy = (*Quota)(nil)

// bucket holds the device time that a client may use.
type bucket struct {
	tokens float64 // ns; below 0 it has overdrawn
	at     time.Duration
	gpu    time.Duration
	closed bool
}

// NewQuota returns the policy.
func NewQuota() *Quota { return &Quota{map[int]bucket{}} }

// refill is the share of a full bucket that a client which ran dry waits for:
// opening the gate for less would cost more in synchronization than it gives.
const refill = 0.1

// Decide fills the buckets, takes out what was used, and stops who has overdrawn.
func (q *Quota) Decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	dropAbsent(q.buckets, clients)
	next := Never
	for i, c := range clients {
		if c.Share <= 0 {
			delete(q.buckets, c.ID)
			continue
		}
		full := c.Share * float64(burst)
		b, known := q.buckets[c.ID]
		if !known {
			b = bucket{tokens: full, at: now, gpu: c.GPU}
		}
		b.tokens = min(full, b.tokens+c.Share*float64(now-b.at)-float64(c.GPU-b.gpu))
		b.at, b.gpu = now, c.GPU
		if b.tokens <= 0 {
			b.closed = true
		} else if b.tokens >= refill*full {
			b.closed = false
		}
		q.buckets[c.ID] = b
		directives[i].Closed = b.closed
		c.boundQueue(&directives[i])
		if !c.Active && !b.closed {
			continue
		}
		wait := b.tokens // at the earliest, the bucket is empty then
		if b.closed {
			wait = (refill*full - b.tokens) / c.Share
		}
		next = min(next, now+max(time.Duration(wait)+1, 100*time.Microsecond))
	}
	return next
}
