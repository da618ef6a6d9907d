package policy

import "testing"

func TestControl(t *testing.T) {
	low := Terms{Gate: true, GateSync: true, Sync: 8, Event: 3}
	event := low
	event.GateEvent = true
	free := Terms{Sync: 8, GateSync: true}
	high := Terms{Priority: 1, Gate: true}
	ungated := Terms{Priority: 2}
	tests := []struct {
		name    string
		clients []Client
		closed  string
		first   Directive
	}{
		{"urgent job runs", []Client{{Terms: low, Active: true}, {Terms: high, Active: true}}, "x-", Directive{Closed: true, SyncEvery: 8}},
		{"no urgent job", []Client{{Terms: low, Active: true}, {Terms: high}}, "--", Directive{SyncEvery: 8}},
		{"event wins", []Client{{Terms: event, Active: true}, {Terms: high}}, "--", Directive{InFlight: 6}},
		{"master switch off", []Client{{Terms: free, Active: true}, {Terms: high, Active: true}}, "--", Directive{}},
		{"urgent, not under the gate", []Client{{Terms: low, Active: true}, {Terms: ungated, Active: true}}, "--", Directive{SyncEvery: 8}},
		{"only two levels", []Client{{Terms: high, Active: true}, {Terms: Terms{Priority: 2, Gate: true}, Active: true}}, "--", Directive{}},
	}
	for _, tt := range tests {
		d, next := decide(t, Control{}, 0, tt.clients...)
		if closed(d) != tt.closed || d[0] != tt.first || next != Never {
			t.Errorf("%s: %+v, want %s and %+v", tt.name, d, tt.closed, tt.first)
		}
	}
}
