package timing

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/shared/file"
)

func readingAt(seconds float64, cpu, crowd float64) Reading {
	return Reading{At: time.Unix(0, int64(seconds*1e9)).UTC(), Compute: Cost{Wall: cpu * crowd, CPU: cpu}, Memory: Cost{Wall: cpu * crowd, CPU: cpu}}
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "speed.jsonl")
	h, other := History{path, "one"}, History{path, "two"}
	if got, err := h.Readings(); got != nil || err != nil {
		t.Fatalf("of no file: %v, %v", got, err)
	}
	want := []Reading{readingAt(10, 0.015, 1), readingAt(20, 0.016, 2)}
	for _, r := range want {
		if err := errors.Join(h.Add(r), other.Add(readingAt(5, 0.03, 1))); err != nil {
			t.Fatal(err)
		}
	}
	got, err := h.Readings()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "one") {
		t.Error("the machine's name is in the file")
	}
	for line := range strings.Lines(string(text)) {
		if len(line) > 250 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

// TestHistoryIsBounded checks that the last readings are in two files of bounded
// length.
func TestHistoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	h := History{filepath.Join(dir, "speed.jsonl"), "m"}
	// All lines that a file holds, less one, are written at once.
	line := `{"yardstick":"yardstick-1","machine":"` + h.machine() + `","at":"2026-01-01T00:00:00Z","compute":{"wall":1,"cpu":1},"memory":{"wall":1,"cpu":1}}` + "\n"
	for _, last := range []float64{1, 2, 3} {
		if err := os.WriteFile(h.Path, []byte(strings.Repeat(line, mostReadings-1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := h.Add(readingAt(last, 0.015, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Add(readingAt(4, 0.015, 1)); err != nil {
		t.Fatal(err)
	}
	got, err := h.Readings()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != mostReadings+1 || !got[len(got)-1].At.Equal(time.Unix(4, 0)) || !got[len(got)-2].At.Equal(time.Unix(3, 0)) {
		t.Errorf("%d readings, the last %v", len(got), got[len(got)-1])
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// TestHistoryOfBadLines checks that an invalid line is named and skipped, that
// readings of other work and impossible ones are skipped, and that a file of
// another kind is unchanged.
func TestHistoryOfBadLines(t *testing.T) {
	dir := t.TempDir()
	h := History{filepath.Join(dir, "speed.jsonl"), "m"}
	if err := h.Add(readingAt(1, 0.015, 1)); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(h.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	m := h.machine()
	for _, line := range []string{
		"not json", `{"yardstick":"yardstick-2","machine":"` + m + `","at":"2026-01-01T00:00:00Z","compute":{"wall":1,"cpu":1},"memory":{"wall":1,"cpu":1}}`,
		`{"yardstick":"yardstick-1","machine":"` + m + `","at":"2026-01-01T00:00:00Z","compute":{"wall":1,"cpu":0},"memory":{"wall":1,"cpu":1}}`,
	} {
		if _, err := f.WriteString(line + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	got, err := h.Readings()
	if len(got) != 1 || err == nil || !strings.Contains(err.Error(), "speed.jsonl:2: not a reading") {
		t.Errorf("%v, %v", got, err)
	}
	foreign := History{filepath.Join(dir, "notes.jsonl"), "m"}
	if err := os.WriteFile(foreign.Path, []byte("my notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := foreign.Add(readingAt(1, 0.015, 1)); !errors.Is(err, file.ErrForeign) {
		t.Errorf("got %v, want ErrForeign", err)
	}
	if text, _ := os.ReadFile(foreign.Path); string(text) != "my notes\n" {
		t.Errorf("the file is now %q", text)
	}
}

// A FIFO in the place of the file is an error, not a wait for its writer.
func TestHistoryOfNoRegularFile(t *testing.T) {
	h := History{filepath.Join(t.TempDir(), "speed.jsonl"), "m"}
	if err := syscall.Mkfifo(h.Path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{func() error { _, err := h.Readings(); return err }(), h.Add(readingAt(1, 0.015, 1))} {
		if !errors.Is(err, file.ErrForeign) || !strings.Contains(err.Error(), h.Path) {
			t.Errorf("got %v, want ErrForeign", err)
		}
	}
}
