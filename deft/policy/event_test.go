package policy

import "testing"

func TestEvent(t *testing.T) {
	d, _ := decide(t, Event{}, 0,
		Client{Active: true},
		Client{Terms: Terms{Priority: 1}, Active: true},
		Client{Terms: Terms{Priority: 1, Event: 5}, Active: true})
	if closed(d) != "---" || d[0].InFlight != 16 || d[1].InFlight != 0 || d[2].InFlight != 10 || d[0].SyncEvery != 0 {
		t.Error(d)
	}
}
