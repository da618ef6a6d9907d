package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/shared/file"
)

func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	if _, err := Read(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, file.ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	runs := []Run{
		{Job: "a", Device: "cpu", Kind: Sample, Epochs: 2, Start: start, Wall: 1.5, Laps: []float64{1, 0.2, 0.2, 0.1}},
		{Job: "a", Device: "cpu", Kind: Full, Epochs: 100, Start: start, Error: "exit status 3", Exit: 3},
		{Job: "b", Device: "cpu", Kind: Sample, Start: start},
	}
	for _, r := range runs {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if got := j.Of("a", Sample); len(got) != 1 || got[0].HasFailed() {
		t.Errorf("samples of a: %+v", got)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(runs, again.Runs); diff != "" || len(again.Warnings) != 0 {
		t.Errorf("%v (-want +got):\n%s", again.Warnings, diff)
	}
}

// Runs before an entry of the kind Fresh do not count, now and when the file is read again;
// failed samples do not after one that succeeded.
func TestRunsThatDoNotCount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, r := range []Run{
		{Job: "a", Kind: Sample, Wall: 1},
		{Job: "b", Kind: Sample, Wall: 2},
		{Job: "a", Kind: Fresh},
		{Job: "a", Kind: Sample, Wall: 3, Error: "no data"},
		{Job: "a", Kind: Full, Wall: 4, Error: "no data"},
		{Job: "a", Kind: Sample, Wall: 5},
		{Job: "a", Kind: Sample, Wall: 6, Error: "no disk"},
	} {
		r.Start = at.Add(time.Duration(i) * time.Second)
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, j := range map[string]*Journal{"written": j, "read": again} {
		var walls []float64
		j.Exclude("a", func(Run) string { return "" })
		for _, r := range j.Runs {
			walls = append(walls, r.Wall)
		}
		if !slices.Equal(walls, []float64{2, 4, 5, 6}) {
			t.Errorf("%s: runs of %v s count", name, walls)
		}
	}
}

func TestDamagedJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	text := "{\"job\":\"a\"}\n\nnot JSON\n{\"job\":\"b\"}\n{\"job\":\"c\",\"stderr\":\"" + strings.Repeat("x", 1000)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"read", "open"} {
		open := Read
		if name == "open" {
			open = Open // cuts the torn line off
		}
		j, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(j.Runs) != 2 || j.Runs[1].Job != "b" {
			t.Errorf("%s: runs %+v", name, j.Runs)
		}
		if len(j.Warnings) != 2 || !errors.Is(j.Warnings[0], ErrLine) || !errors.Is(j.Warnings[1], ErrTornLine) {
			t.Errorf("%s: warnings %v", name, j.Warnings)
		}
		if name == "open" {
			if err := j.Append(Run{Job: "d"}); err != nil {
				t.Fatal(err)
			}
			j.Close()
		}
	}
	j, err := Read(path)
	if err != nil || len(j.Runs) != 3 || j.Runs[2].Job != "d" || len(j.Warnings) != 1 {
		t.Errorf("after the torn line was cut: %+v, %v", j, err)
	}
}

// A file that is no journal keeps every byte, whatever ends where.
func TestForeignFile(t *testing.T) {
	for name, text := range map[string]string{
		"binary":         "\x80\x02\x8a\n\x00\x01" + strings.Repeat("\x00weights", 1000),
		"text":           "lr: 0.1\nepochs: 30",
		"another's JSON": "{\"id\":1}\n{\"id\":2}\n",
	} {
		path := filepath.Join(t.TempDir(), "model.pt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !errors.Is(err, file.ErrForeign) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != text {
			t.Errorf("%s: %d bytes, were %d: %v", name, len(after), len(text), err)
		}
	}
}

// FuzzOpen: whatever a journal holds, nothing panics, what can be read stays,
// a run that is appended is read back, and a file that is refused is untouched.
func FuzzOpen(f *testing.F) {
	for _, text := range []string{"", "{}\n", "{\"job\":\"a\"}\n{\"job", "\n\nnot JSON\n", "{\"laps\":[1e999]}\n", "null\n[]\n3\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "j.jsonl")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		j, err := Open(path)
		if err != nil {
			if after, _ := os.ReadFile(path); !errors.Is(err, file.ErrForeign) || !bytes.Equal(after, text) {
				t.Fatalf("%v: %q", err, after)
			}
			return
		}
		before := len(j.Runs)
		if err := j.Append(Run{Job: "appended"}); err != nil {
			t.Fatal(err)
		}
		j.Close()
		again, err := Read(path)
		if err != nil || len(again.Runs) != before+1 || again.Runs[before].Job != "appended" {
			t.Fatalf("%d runs, then %d: %v", before, len(again.Runs), err)
		}
	})
}
