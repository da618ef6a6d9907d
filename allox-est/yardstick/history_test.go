package yardstick

import (
	"math"
	"path/filepath"
	"testing"
	"time"
)

// Two speeds that last a few runs each: their mean, spread and persistence.
func TestHistory(t *testing.T) {
	h := History{Path: filepath.Join(t.TempDir(), "new", "speeds.jsonl")}
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	if p, err := h.Past("p", now); p != nil || err != nil {
		t.Fatalf("nothing yet: %+v, %v", p, err)
	}
	add := func(e Entry) {
		t.Helper()
		if err := h.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40 {
		seconds := 1.0
		if i/5%2 == 1 {
			seconds = 4
		}
		add(Entry{Work, "p", now.Add(time.Duration(i-50) * time.Hour), seconds})
	}
	add(Entry{Work, "another", now.Add(-time.Hour), 100})
	add(Entry{"another work", "p", now.Add(-time.Hour), 100})
	add(Entry{Work, "p", now.Add(-90 * 24 * time.Hour), 100})
	add(Entry{Work, "p", now.Add(time.Hour), 100})
	p, err := h.Past("p", now)
	if err != nil {
		t.Fatal(err)
	}
	if p.Runs != 40 || math.Abs(p.Seconds-2) > 1e-9 || math.Abs(p.SD-math.Ln2) > 0.02 || p.Lasting < 0.5 || p.Lasting > 0.75 {
		t.Errorf("%+v", p)
	}
}
