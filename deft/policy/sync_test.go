package policy

import "testing"

func TestSync(t *testing.T) {
	d, _ := decide(t, Sync{}, 0,
		Client{Active: true},
		Client{Terms: Terms{Priority: 1}, Active: true},
		Client{Terms: Terms{Priority: 1, Sync: 5}, Active: true})
	if closed(d) != "---" || d[0].SyncEvery != 16 || d[1].SyncEvery != 0 || d[2].SyncEvery != 5 {
		t.Error(d)
	}
}
