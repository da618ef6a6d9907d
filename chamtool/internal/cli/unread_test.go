package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
)

// A log without rows has a reason: no tasks, an end that nobody saw, or another layout.
func TestUnread(t *testing.T) {
	for want, s := range map[string]summary.Summary{
		"it created none":                 {Complete: true},
		"the summary counts 90 tasks":     {Complete: true, Counts: task.Counts{Created: 90}},
		"did not see its end":             {Counts: task.Counts{Created: 90}},
		"the last count was 90 tasks":     {Counts: task.Counts{Created: 90}},
		"CHAMTOOL_LOG_FORMAT=csv writes ": {Signal: true, Counts: task.Counts{Created: 90}},
	} {
		dir := t.TempDir()
		f, err := os.Create(filepath.Join(dir, summary.FileName(0)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got := unread(dir); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := unread(t.TempDir()); !strings.Contains(got, "no such file") {
		t.Errorf("%q without a summary", got)
	}
}
