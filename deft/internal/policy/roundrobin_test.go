package policy

import (
	"testing"
	"time"
)

func TestRoundRobin(t *testing.T) {
	r := NewRoundRobin(Settings{Quantum: 10 * ms})
	busy := func(n uint64) Client { return Client{Active: true, Launches: n, InFlight: 1} }
	steps := []struct {
		at      int // ms
		clients []Client
		want    string
	}{
		{0, []Client{busy(0), {}, busy(0)}, "-xx"},                 // the first of them
		{5, []Client{busy(9), {}, busy(0)}, "-xx"},                 // within its turn
		{10, []Client{busy(9), {}, busy(0)}, "xx-"},                // the next with work
		{12, []Client{busy(9), {}, {}}, "-xx"},                     // a guest, as the owner has no job
		{14, []Client{busy(9), {}, busy(1)}, "xx-"},                // the owner is back within its turn
		{20, []Client{busy(9), busy(1), busy(1)}, "-xx"},           // around
		{30, []Client{busy(9), busy(1), busy(1)}, "x-x"},           // and on
		{32, []Client{{}, {}, {}}, "---"},                          // nobody
		{40, []Client{{}, {Active: true, Launches: 1}}, "x-"},      // left without launching ...
		{41, []Client{busy(9), {Active: true, Launches: 1}}, "--"}, // ... it may go on, but others too
	}
	for _, s := range steps {
		d, next := decide(t, r, time.Duration(s.at)*ms, s.clients...)
		if closed(d) != s.want {
			t.Errorf("at %d ms: %s, want %s", s.at, closed(d), s.want)
		}
		if s.want != "---" && next > time.Duration(s.at+10)*ms {
			t.Errorf("at %d ms: asks again at %v", s.at, next)
		}
	}
}
