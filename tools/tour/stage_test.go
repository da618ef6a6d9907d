package tour

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStageStops checks that nothing runs after the first error of a chapter, and that
// this error is kept.
func TestStageStops(t *testing.T) {
	dir := t.TempDir()
	s := (&Stage{Bin: dir, Out: filepath.Join(dir, "out"), Log: io.Discard}).chapter("m")
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\necho '{\"N\": 3}'\ntest $1 = good || { echo broken >&2; exit 1; }\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var v struct{ N int }
	s.write("in.csv", "a,b\n1,2\n3,\n")
	s.runJSON(t.Context(), &v, "tool", "good")
	if c := s.columns("in.csv", "a", "b"); s.hasFailed(nil) || v.N != 3 || len(c[0]) != 1 || c[1][0] != 2 {
		t.Fatalf("%v, %v, %v", s.err, v, c)
	}
	s.run(t.Context(), "tool", "bad")
	first := s.err
	s.write("late", "")
	s.runJSON(t.Context(), &v, "tool", "good")
	s.readJSON(&v, "none.json")
	if first == nil || !strings.Contains(first.Error(), "tool bad: exit status 1\nbroken") || s.err != first {
		t.Errorf("error %v, want %v", s.err, first)
	}
	if _, err := os.Stat(filepath.Join(s.Out, "m", "late")); err == nil || len(*s.commands) != 2 {
		t.Errorf("after the error ran %q", *s.commands)
	}
}
