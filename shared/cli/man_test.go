package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManualAndCompletions checks that the program itself writes the files that a
// package needs.
func TestManualAndCompletions(t *testing.T) {
	run := func(args ...string) string {
		t.Helper()
		var stdout bytes.Buffer
		env := NewEnv(nil, &stdout, io.Discard)
		if code := Run(t.Context(), env, program(env), args); code != ExitDone {
			t.Fatalf("%v: exit code %d", args, code)
		}
		return stdout.String()
	}
	dir := t.TempDir()
	run("man", dir)
	for _, page := range []string{"prog.1", "prog-good.1", "prog-group-leaf.1"} {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil || !strings.HasPrefix(string(text), `.nh`+"\n"+`.TH "PROG`) || strings.Contains(string(text), "Auto generated") {
			t.Errorf("%s: %v\n%s", page, err, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "prog-man.1")); err == nil {
		t.Error("a page about what makes the pages")
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if script := run("completion", shell); !strings.Contains(script, "prog") {
			t.Errorf("%s: %q", shell, script)
		}
	}
}
