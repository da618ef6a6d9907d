package rivals

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/tools/tour"
)

func TestSaveAndWrite(t *testing.T) {
	r := &Results{Commit: "abc", Date: "2026-01-02", Machine: tour.Machine{CPU: "Z80", Cores: 1, Go: "go1"}, Rows: []Row{
		{Tool: "m", What: "a", Unit: "s", Rival: "X 1", Ours: []float64{1, 2, 4}, Theirs: []float64{2, 2, 2}, Command: "go test", Note: "one of 2 left out", Commit: "abc", Load: 1},
		{Tool: "m", What: "b", Unit: "MB", Rival: "Y 2", Ours: []float64{4, 4, 4, 4}, Theirs: []float64{2, 1, 2, 1}, Command: "go test"},
		{Tool: "m", What: "c", Unit: "/s", Rival: "Z", Ours: []float64{4, 4}, Theirs: []float64{2, 2}, More: true, Command: "m c"},
	}, Skipped: []string{"d: not here"}}
	path := filepath.Join(t.TempDir(), "rivals.json")
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	got := back.Markdown("results/rivals.json")
	for _, want := range []string{
		"3 comparisons: ahead in 1, behind in 1, undecided in 1.",
		"| m | a | 2 s | `X 1` | 2 s | 1 (0.179 to 5.59) | 3 | less | undecided | `abc`, `1.0` |\n",
		"| m | b | 4 MB | `Y 2` | 1.50 MB | 2.83 (1.50 to 5.35) | 4 | less | behind | ``, `0.0` |\n",
		"| m | c | 4 /s | `Z` | 2 /s | 2 (2 to 2) | 2 | more | ahead | ``, `0.0` |\n",
		"*a*: one of 2 left out ([result](results/rivals.json)).\n",
		"Not compared: d: not here.\n",
		"- `go test`\n- `m c`\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// A merge replaces rows that compare the same, and keeps their order and the origin of the
// others. A value of 0 has no ratio.
func TestMerge(t *testing.T) {
	old := &Results{Commit: "old", Skipped: []string{"d: gone", "e: gone"}, Rows: []Row{{Tool: "m", What: "a", Rival: "X", Commit: "old", Load: 1}, {Tool: "m", What: "b", Rival: "X", Commit: "old", Load: 1}}}
	added := &Results{Commit: "new", Rows: []Row{{Tool: "m", What: "c", Rival: "X", Ours: []float64{0, 1}, Theirs: []float64{1, 2}, Commit: "new"}, {Tool: "m", What: "a", Rival: "Y", Commit: "new"}, {Tool: "m", What: "a", Rival: "X", Commit: "new", Load: 2}}}
	merged := added.Merge(old, "d")
	var got []string
	for _, row := range merged.Rows {
		got = append(got, row.What+" "+row.Rival+" "+row.Commit)
	}
	if want := []string{"a X new", "a Y new", "b X old", "c X new"}; !slices.Equal(got, want) || merged.Commit != "new" || !slices.Equal(merged.Skipped, old.Skipped[1:]) {
		t.Errorf("%s, %q, %q", merged.Commit, got, merged.Skipped)
	}
	if v := merged.Rows[3].Verdict(); v != "undecided" {
		t.Errorf("a row with a value of 0 is %q", v)
	}
}

// TestRunEnds checks that the children of a rival end with it when the comparison
// is interrupted.
func TestRunEnds(t *testing.T) {
	root := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	pid := filepath.Join(root, "pid")
	go func() {
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			if text, _ := os.ReadFile(pid); bytes.HasSuffix(text, []byte("\n")) {
				cancel()
			}
		}
	}()
	if _, err := output(ctx, root, io.Discard, "-c", "import subprocess; p = subprocess.Popen(['sleep', '1000']); print(p.pid, file=open('pid', 'w'), flush=True); p.wait()"); err == nil {
		t.Fatal("an interrupted run has no error")
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	for {
		state, err := os.ReadFile("/proc/" + string(bytes.TrimSpace(text)) + "/stat")
		if err != nil || bytes.Contains(state, []byte(") Z ")) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// TestStoredTable checks that the document has the table of the stored results.
func TestStoredTable(t *testing.T) {
	stored, err := Load("../docs/results/rivals.json")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../docs/rivals.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := stored.Markdown("results/rivals.json"); !strings.Contains(string(text), want) {
		t.Errorf("tools/docs/rivals.md does not show the stored results:\n%s", want)
	}
}
