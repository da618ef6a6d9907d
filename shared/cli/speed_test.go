package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func speed(t *testing.T, state string, args ...string) (*Speed, *bytes.Buffer) {
	t.Helper()
	var b bytes.Buffer
	env := NewEnv(nil, &b, &b)
	env.State = state
	root := &cobra.Command{Use: "prog"}
	s := NewSpeed(NewRecord(env, root))
	if err := root.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return s, &b
}

// TestSpeed checks that readings are kept next to the record, for later programs,
// and not with --no-record.
func TestSpeed(t *testing.T) {
	state := t.TempDir()
	for want := 1; want <= 2; want++ {
		s, said := speed(t, state)
		s.Read()
		at := map[int64]bool{}
		for _, r := range s.Readings() {
			at[r.At.UnixNano()] = true
		}
		if len(at) != want || said.Len() > 0 {
			t.Errorf("program %d knows %d readings: %s", want, len(at), said)
		}
	}
	file := filepath.Join(state, "foretime", "speed.jsonl")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := speed(t, state, "--no-record")
	s.Read()
	if n := len(s.Readings()); n != 1 {
		t.Errorf("with --no-record it knows %d readings, want its own", n)
	}
	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("with --no-record a reading was kept")
	}
}

// TestSpeedWithoutLog checks that an unusable log gives one warning, and that the
// program's own readings are used.
func TestSpeedWithoutLog(t *testing.T) {
	state := t.TempDir()
	if err := os.Mkdir(filepath.Join(state, "foretime"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "foretime", "speed.jsonl"), []byte("not ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, said := speed(t, state)
	s.Read()
	s.Read()
	if n := len(s.Readings()); n != 2 {
		t.Errorf("%d readings, want 2", n)
	}
	if n := strings.Count(said.String(), "level=warning"); n != 1 || !strings.Contains(said.String(), "speed.jsonl") {
		t.Errorf("%d warnings: %s", n, said)
	}
}
