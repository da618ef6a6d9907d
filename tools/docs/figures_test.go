package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/workspace"
)

func TestFigures(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"m/docs/results/a.json": `{"command": "m", "machine": "Z80", "commit": "c", "date": "d", "count": "1", "stored": "by the command",
			"figures": {"error": 0.1234, "seconds": [5.31, 1200], "of": "7.49 h"}}`,
		"m/docs/results/bare.json": `{"figures": {"error": 0.5}}`,
		"m/README.md": "Missed by 12.3 % in 1,200 s ([result](docs/results/a.json)),\nwhich goes on with 5.3.\n\n" + // all stored
			"A level of `95 %` for version `1.2`.\n\n```\n9.9 s\n```\n\n" + // nothing measured
			"Took 3 ms, or 0.77.\n\n" +
			"Stored ([result](docs/results/a.json)):\n\n| what | h |\n|---|---|\n| a | 5.31 |\n| b | .99 |\n\nAfter the table 5.31.\n",
		"m/docs/guide.md": "Half: 50 % ([result](results/bare.json)).\n\n7 h ([result](results/gone.json))\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	count, got, err := figures(root)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, "m", "docs", "results", name) }
	want := []string{
		"m/README.md:10: 3 0.77: no result is linked",
		"m/README.md:17: .99 is not in docs/results/a.json",
		"m/README.md:19: 5.31: no result is linked",
		"m/docs/guide.md:1: " + at("bare.json") + ": a stored result has command, machine, commit, date, count, stored and figures",
		"m/docs/guide.md:1: 50 is not in results/bare.json",
		"m/docs/guide.md:3: open " + at("gone.json") + ": no such file or directory",
		"m/docs/guide.md:3: 7 is not in results/gone.json",
	}
	if diff := cmp.Diff(want, got); diff != "" || count != 10 {
		t.Errorf("%d figures, want 10; findings (-want +got):\n%s", count, diff)
	}
}

// TestProjectFigures checks that every measured figure of the project's documents
// is in a stored result.
func TestProjectFigures(t *testing.T) {
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	count, findings, err := figures(ws.Root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Error(f)
	}
	t.Logf("%d figures", count)
}
