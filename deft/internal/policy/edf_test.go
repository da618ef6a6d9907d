package policy

import (
	"testing"
	"time"
)

func TestEDF(t *testing.T) {
	e := NewEDF(Settings{})
	soon := Client{InFlight: 1, Terms: Terms{Deadline: 20 * ms}}
	late := Client{InFlight: 1, Terms: Terms{Deadline: 50 * ms}}
	rest := Client{Active: true, InFlight: 1}
	ask := func(now int, want string) time.Duration {
		t.Helper()
		d, next := decide(t, e, time.Duration(now)*ms, soon, late, rest)
		if closed(d) != want {
			t.Errorf("at %d ms: %s, want %s", now, closed(d), want)
		}
		return next
	}
	ask(0, "---") // no job with a deadline
	soon.Active, soon.Begin = true, 1*ms
	ask(1, "-xx") // nothing is known of its need
	soon.Active, soon.Jobs, soon.GPU = false, 1, 4*ms
	late.Active, late.Begin = true, 10*ms
	ask(10, "x-x")
	late.Active, late.Jobs, late.GPU = false, 1, 10*ms
	ask(20, "---")
	soon.Active, soon.Begin = true, 100*ms
	// It needs 4 ms of 20 ms: 16 of slack, less a margin of 2 + 2.
	if next := ask(100, "---"); next != 112*ms {
		t.Errorf("asks again at %v, want 112ms", next)
	}
	ask(112, "-xx")
	soon.GPU = 7 * ms // 3 of the 4 ms are had
	if next := ask(112, "---"); next != 116500*time.Microsecond {
		t.Errorf("asks again at %v, want 116.5ms", next)
	}
	// The later one needs 10 ms after the 1 ms of the first: 18 - 11 of slack, less
	// a margin of 2 + 5.5.
	late.Active, late.Begin = true, 80*ms
	ask(112, "-xx")
}

// TestEDFLearns: three tenths of the mean are the last job's.
func TestEDFLearns(t *testing.T) {
	e := NewEDF(Settings{})
	for i, want := range []time.Duration{0, 10 * ms, 13 * ms, 10*ms + 600*time.Microsecond} {
		gpu := []time.Duration{0, 10 * ms, 30 * ms, 35 * ms}[i]
		e.observe([]Client{{Jobs: i, GPU: gpu}})
		if got := time.Duration(e.accounts[0].perJob); got != want {
			t.Errorf("after %d jobs: %v, want %v", i, got, want)
		}
	}
}
