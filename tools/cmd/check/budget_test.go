package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBudgets(t *testing.T) {
	most, why, err := budgets("# what may not grow\nlines deft 10000\npackages 105 # one more, for records\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"lines deft": 10000, "packages": 105}, most); diff != "" || why["packages"] != "one more, for records" {
		t.Errorf("%s %q", diff, why)
	}
	if _, _, err := budgets("lines deft\n"); err == nil || !strings.Contains(err.Error(), ":1:") {
		t.Errorf("a line without a number: %v", err)
	}
	got := over(map[string]int{"lines deft": 10001, "packages": 105, "flags deft": 3}, most)
	if len(got) != 2 || !strings.HasPrefix(got[0], "tools/budget.txt: no budget for flags deft") || !strings.HasPrefix(got[1], "lines deft is 10001, at most 10000") {
		t.Errorf("%q", got)
	}
	if got := over(map[string]int{"packages": 1}, most); len(got) != 1 || !strings.HasSuffix(got[0], "nothing is called lines deft") {
		t.Errorf("%q", got)
	}
}

// A program's help, made by a script: 3 flags at the most, of its command b.
func TestRichest(t *testing.T) {
	program := filepath.Join(t.TempDir(), "prog")
	script := `#!/bin/sh
case "$1" in
-h) printf 'Usage:\n  prog [command]\n\nAvailable Commands:\n  a           first\n  b           second\n  help        of\n\nFlags:\n  -h, --help      help\n      --verbose   more\n' ;;
a) printf 'Flags:\n      --x int   an x\n  -h, --help   help\n\nGlobal Flags:\n      --verbose   more\n' ;;
b) printf 'Flags:\n      --x int   an x, see:\n  -y, --yy   a y\n\nMore flags:\n      --z   a z\n  -h, --help   help\n\nGlobal Flags:\n      --verbose   more\n' ;;
esac
`
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if n, err := richest(program); err != nil || n != 3 {
		t.Errorf("%d, %v", n, err)
	}
}

func TestConstants(t *testing.T) {
	file := filepath.Join(t.TempDir(), "DESIGN.md")
	text := "# Choices\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Constants\n\n| constant | origin |\n|---|---|\n| `.9` | promised |\n| `50` | a window |\n\n## More\n\n| x |\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, err := constants(file); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
}
