package policy

import "testing"

func TestPriority(t *testing.T) {
	at := func(level int, active bool) Client { return Client{Terms: Terms{Priority: level}, Active: active} }
	tests := []struct {
		name    string
		clients []Client
		closed  string
		sync    []int // the interval in launches; -1: bounded in time
		timed   []bool
	}{
		{"alone", []Client{at(0, true)}, "-", []int{0}, []bool{false}},
		{"equal", []Client{at(1, true), at(1, true)}, "--", []int{0, 0}, []bool{false, false}},
		{"urgent runs", []Client{at(0, true), at(1, true)}, "x-", []int{-1, 0}, []bool{false, true}},
		{"urgent sleeps", []Client{at(0, true), at(1, false)}, "--", []int{-1, 0}, []bool{false, false}},
		{"three levels, the middle runs", []Client{at(0, true), at(5, true), at(9, false)}, "x--", []int{-1, -1, 0}, []bool{false, true, false}},
		{"three levels, all run", []Client{at(0, true), at(5, true), at(9, true)}, "xx-", []int{-1, -1, 0}, []bool{false, true, true}},
		{"own interval", []Client{{Terms: Terms{Interval: 3}}, at(1, false)}, "--", []int{3, 0}, []bool{false, false}},
	}
	for _, tt := range tests {
		d, _ := decide(t, NewPriority(Settings{}), 0, tt.clients...)
		for i, want := range tt.sync {
			bound := Directive{Closed: d[i].Closed, SyncEvery: want, Timed: tt.timed[i]}
			if want < 0 {
				bound.SyncEvery, bound.InFlightTime = 0, DefaultInFlight
			}
			if closed(d) != tt.closed || d[i] != bound {
				t.Errorf("%s: %+v, want %s, %v and %v", tt.name, d, tt.closed, tt.sync, tt.timed)
			}
		}
	}
}
