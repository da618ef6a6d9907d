package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/cli"
)

// One line a result; what cannot run, or does not print its figures, fails at the
// end and keeps no other from its turn.
func TestRun(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "m", "docs", "results")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]string{"a": "echo 7", "b": "echo 8", "c": "false", "d": "echo 7.2"} {
		text := `{"command": "` + command + `", "machine": "Z80", "commit": "c", "date": "d", "count": "1", "stored": "by hand", "repeats": true, "figures": 7}`
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var stdout bytes.Buffer
	err := run(t.Context(), cli.NewEnv(nil, &stdout, &stdout), root, nil)
	if !errors.Is(err, errGone) || !strings.HasPrefix(err.Error(), "2 of 4 ") {
		t.Errorf("%v", err)
	}
	got := strings.Join(strings.FieldsFunc(stdout.String(), func(r rune) bool { return r == '\n' || r == '\t' }), "; ")
	want := "m/docs/results/a.json: 1 of 1 figures found again, 0 s; " +
		"m/docs/results/b.json: 0 of 1 figures found again, 0 s; : 7 is not printed; " +
		"m/docs/results/c.json: exit status 1; " +
		"m/docs/results/d.json: 1 of 1 figures found again, 0 s"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	stdout.Reset()
	if err := run(t.Context(), cli.NewEnv(nil, &stdout, &stdout), root, []string{"m/docs/results/d.json"}); err != nil || strings.Count(stdout.String(), "\n") != 1 {
		t.Errorf("%v: %s", err, stdout.String())
	}
}
