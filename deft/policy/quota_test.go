package policy

import (
	"testing"
	"time"
)

func TestQuota(t *testing.T) {
	q := NewQuota(100 * ms) // a full bucket of a tenth holds 10 ms, its refill is 1 ms
	c := Client{Active: true, Terms: Terms{Share: 0.1}}
	free := Client{Active: true}
	steps := []struct {
		at, gpu int // ms
		want    string
		next    time.Duration
	}{
		{0, 0, "--", 10*ms + 1},
		{10, 10, "--", 11*ms + 1},    // 10 less 10, and 1 came in
		{20, 14, "x-", 50*ms + 1},    // overdrawn by 2: 3 ms to the refill
		{49, 14, "x-", 50*ms + 1},    // still below it
		{50, 14, "--", 51*ms + 1},    // 1 ms
		{999, 14, "--", 1009*ms + 1}, // full, and no more
	}
	for _, s := range steps {
		c.GPU = time.Duration(s.gpu) * ms
		d, next := decide(t, q, time.Duration(s.at)*ms, c, free)
		if closed(d) != s.want || next != s.next {
			t.Errorf("at %d ms: %s, next %v, want %s, %v", s.at, closed(d), next, s.want, s.next)
		}
	}
}
