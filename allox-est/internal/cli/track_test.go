package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/progress"
)

// TestLoopJournal: the journal in the state directory is bounded by two files, both of
// which are the past of a loop; a journal that the user named only grows.
func TestLoopJournal(t *testing.T) {
	for _, own := range []bool{true, false} {
		l := loop{total: 10, name: "train.py:3", own: own, journal: filepath.Join(t.TempDir(), "loops.jsonl")}
		for n := range loopMarks {
			l.marks = append(l.marks, progress.Mark{Number: float64(n) / 25.6, Of: 10, Seconds: float64(n) * 1.000001})
		}
		size := func(path string) int64 {
			info, err := os.Stat(path)
			if err != nil {
				return 0
			}
			return info.Size()
		}
		older := l.journal + olderSuffix
		end := func() {
			t.Helper()
			if err := l.end(300); err != nil {
				t.Fatal(err)
			}
		}
		end()
		line, err := os.ReadFile(l.journal)
		if err != nil {
			t.Fatal(err)
		}
		full := loopBytes/len(line) + 1
		for range 2 {
			if err := os.WriteFile(l.journal, bytes.Repeat(line, full), 0o600); err != nil {
				t.Fatal(err)
			}
			end()
		}
		j, err := journal.Read(l.journal)
		if err != nil {
			t.Fatal(err)
		}
		if !own {
			if len(j.Runs) != full+1 || size(older) > 0 {
				t.Errorf("the user's: %d of %d loops, older %d bytes", len(j.Runs), full+1, size(older))
			}
			continue
		}
		l.past()
		if n := len(l.tracker.Past.Runs); len(j.Runs) != 1 || n != full+1 {
			t.Errorf("ours: %d loops in the new file, %d of %d are used", len(j.Runs), n, full+1)
		}
		if s := size(older); s != int64(full*len(line)) {
			t.Errorf("older %d bytes", s)
		}
	}
}
