package policy

import "time"

// Quota limits each client with a share to that share of the device's time, even if the
// rest is unused: a token bucket of device time that fills at the share and has room for
// that of burst. A client with an empty bucket stops until the bucket has been refilled a
// little. It is not work conserving.
type Quota struct{ buckets map[int]bucket }

// burst is the time over which a share is kept; set by hand, like refill.
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

// refill is the share of a full bucket for which an empty client waits: opening the gate
// for less would cost more in synchronization than it gains.
const refill = 0.1

// Decide fills the buckets, subtracts the device time used, and stops clients with an empty
// bucket.
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
