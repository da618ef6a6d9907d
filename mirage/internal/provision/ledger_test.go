package provision

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/slurmview"
)

// TestLedger: what is written is read again, torn lines are cut off, and
// nothing impossible gets in.
func TestLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	l, err := OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	entries := []Entry{
		{At: at, Kind: Begin, Chain: "c"},
		{At: at, Kind: Intent, Link: 0},
		{At: at, Kind: Accepted, Link: 0, Job: 5},
		{At: at, Kind: Void, Link: 0, Job: 5},
		{At: at, Kind: Intent, Link: 0},
		{At: at, Kind: Accepted, Link: 0, Job: 6},
		{At: at, Kind: Started, Link: 0, Job: 6, Start: 100},
		{At: at, Kind: Intent, Link: 1},
		{At: at, Kind: Accepted, Link: 1, Job: 7},
		{At: at, Kind: Ended, Link: 0, Job: 6, End: 160},
		{At: at, Kind: Started, Link: 1, Job: 7, Start: 150},
		{At: at, Kind: Ended, Link: 1, Job: 7, End: 210},
	}
	for i, e := range entries {
		if err := l.Append(e); err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
	}
	if want := (Summary{Links: 2, Ended: 2, Submissions: 3, HandOvers: 1, Overlap: 10}); l.Summary() != want {
		t.Errorf("%+v, want %+v", l.Summary(), want)
	}
	for _, bad := range []Entry{
		{Kind: Begin, Chain: "d"}, {Kind: Intent, Link: 1}, {Kind: Intent, Link: 3}, {Kind: Intent, Link: -1}, {Kind: Accepted, Link: 2, Job: 9},
		{Kind: Accepted, Link: 1, Job: 9}, {Kind: Started, Link: 1, Start: 1}, {Kind: Ended, Link: 1}, {Kind: Void, Link: 1, Job: 7}, {Kind: "x", Link: 1},
	} {
		if err := l.Append(bad); !errors.Is(err, ErrLedger) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := l.Append(Entry{Kind: Intent, Link: 2}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []Entry{{Kind: Accepted, Link: 2, Job: 5}, {Kind: Accepted, Link: 2}, {Kind: Intent, Link: 3}, {Kind: Started, Link: 2}, {Kind: Void, Link: 2}} {
		if err := l.Append(bad); !errors.Is(err, ErrLedger) {
			t.Errorf("with link 2 open: %+v: %v", bad, err)
		}
	}
	if last := l.Last(); !last.Open || last.Job != 0 || last.Tries != 1 {
		t.Errorf("last %+v", last)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"kind":"accepted","link":2,"job":8,"reason":"` + strings.Repeat("x", 500)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	again, err := OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l.Links, again.Links); diff != "" {
		t.Error(diff)
	}
	// A torn line leaves no trace behind the next ones.
	if err := errors.Join(again.Append(Entry{Kind: Accepted, Link: 2, Job: 8}), again.Close()); err != nil {
		t.Fatal(err)
	}
	if last, err := OpenLedger(path); err != nil || last.Last().Job != 8 || last.Last().Open {
		t.Errorf("after a torn line: %v", err)
	} else {
		last.Close()
	}
}

// TestHistory: waits are those of others, once each, newest first, and
// survive a restart; the window has a snapshot each ten minutes.
func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	h, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	if h.window(0) != nil || len(h.waits()) != 0 {
		t.Error("something where nothing was seen")
	}
	own := func(id int64) bool { return id == 3 }
	jobs := []slurmview.Job{
		{ID: 1, State: "RUNNING", Nodes: 2, Submit: 1000, Start: 1600, Limit: time.Hour},
		{ID: 2, State: "PENDING", Nodes: 1, Submit: 1900, Limit: 2 * time.Hour},
		{ID: 3, State: "RUNNING", Nodes: 1, Submit: 1000, Start: 1060, End: 4660},
		{ID: 4, State: "COMPLETED", Nodes: 1, Submit: 1000, Start: 1300, End: 1360},
		{ID: 5, State: "CANCELLED", Nodes: 1, Submit: 1000, Start: 1300, End: 1300},
	}
	for _, at := range []int64{2200, 2800} {
		if err := errors.Join(h.see(jobs, at, own), h.snapshot(jobs, float64(at))); err != nil {
			t.Fatal(err)
		}
	}
	check := func() {
		t.Helper()
		if diff := cmp.Diff([]float64{600, 300}, h.waits()); diff != "" {
			t.Error(diff)
		}
		w := h.window(1000 + 60*30)
		if len(w) != samples.Steps || w[143].At != 2800 || w[142].At != 2200 || w[0].Snapshot != w[142].Snapshot {
			t.Errorf("window of %d, %d, %d", len(w), w[143].At, w[142].At)
		}
		if s := w[143].Snapshot; s[0] != 1 || s[1] != 1 || s[2] != 120 || s[7] != 15*60 || s[12] != 2 || s[13] != 3 || s[14] != 60 || s[19] != 60 || s[23] != 600 || s[24] != 20*60 {
			t.Errorf("last snapshot %v", s)
		}
		if s := w[142].Snapshot; s[7] != 5*60 {
			t.Errorf("the one before %v", s)
		}
	}
	check()
	h.log.Close()
	if h, err = openHistory(path); err != nil {
		t.Fatal(err)
	}
	check()
	if err := h.see(jobs, 2800, own); err != nil {
		t.Fatal(err)
	}
	check()
	h.log.Close()
	if err := os.WriteFile(path, []byte(`{"at":1,"queue":[1,2]}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openHistory(path); err == nil || !strings.Contains(err.Error(), "history.jsonl:1: 2 queue features") {
		t.Errorf("short snapshot: %v", err)
	}
}
