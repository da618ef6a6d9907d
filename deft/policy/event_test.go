package policy

import "testing"

func TestEvent(t *testing.T) {
	at := func(level, event int) Client {
		return Client{Terms: Terms{Priority: level, Event: event}, Active: true}
	}
	tests := []struct {
		name    string
		clients []Client
		want    []int
	}{
		{"alone", []Client{at(0, 0)}, []int{16}},
		{"two levels", []Client{at(0, 0), at(1, 0), at(0, 5), at(1, 5)}, []int{16, 0, 10, 0}},
		{"one level", []Client{at(1, 0), at(1, 5)}, []int{16, 10}},
	}
	for _, tt := range tests {
		d, _ := decide(t, Event{}, 0, tt.clients...)
		for i, want := range tt.want {
			if d[i] != (Directive{InFlight: want}) {
				t.Errorf("%s: client %d: %+v, want %d", tt.name, i, d[i], want)
			}
		}
	}
}
