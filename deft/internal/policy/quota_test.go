package policy

import (
	"testing"
	"time"
)

func TestQuota(t *testing.T) {
	q := NewQuota() // a full bucket of a fifth holds 10 ms, its refill is 1 ms
	c := Client{Active: true, Terms: Terms{Share: 0.2}}
	free := Client{Active: true}
	steps := []struct {
		at, gpu int // ms
		want    string
		next    time.Duration
	}{
		{0, 0, "--", 10*ms + 1},
		{10, 10, "--", 12*ms + 1},    // 10 less 10, and 2 came in
		{20, 16, "x-", 35*ms + 1},    // overdrawn by 2: 3 ms to the refill
		{34, 16, "x-", 35*ms + 1},    // still below it
		{35, 16, "--", 36*ms + 1},    // 1 ms
		{999, 16, "--", 1009*ms + 1}, // full, and no more
	}
	for _, s := range steps {
		c.GPU = time.Duration(s.gpu) * ms
		d, next := decide(t, q, time.Duration(s.at)*ms, c, free)
		if closed(d) != s.want || next != s.next {
			t.Errorf("at %d ms: %s, next %v, want %s, %v", s.at, closed(d), next, s.want, s.next)
		}
	}
}
