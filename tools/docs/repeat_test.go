package docs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// store writes a result of a made-up module and returns the checkout's root.
func store(t *testing.T, name, command, rest string) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "m", "docs", "results")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"command": %q, "machine": "Z80", "commit": "c", "date": "d", "count": "1", "stored": "by hand", %s}`, command, rest)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestRepeat(t *testing.T) {
	t.Setenv("DATA", t.TempDir())
	t.Setenv("NONE", "")
	for name, tt := range map[string]struct {
		command, rest string
		want          Repetition
		line          string
	}{
		"all": {"echo 12.344 % of 1500; echo .25 -4.7 3e-5 17 >&2", `"repeats": true, "figures": {"error": 0.12344, "percent": 12.3, "of": [1500]}`,
			Repetition{Figures: 3, Missing: []string{"error: 0.12344 is not printed"}}, "2 of 3 figures found again, 0 s\n\terror: 0.12344 is not printed"},
		"a share for a percentage": {"echo 0.12344 -4.71 0.00003", `"repeats": true, "figures": {"a": {"b": 12.3, "off": -4.7, "small": 3e-5, "what": "17 s", "no": null}, "5": 12}`,
			Repetition{Figures: 4}, "4 of 4 figures found again, 0 s"},
		"nothing printed": {"true", `"repeats": true, "figures": {"rows": [[1, 2.0], [0.5, -3]]}`,
			Repetition{Figures: 4, Missing: []string{"rows[0][0]: 1 is not printed", "rows[0][1]: 2.0 is not printed", "rows[1][0]: 0.5 is not printed", "rows[1][1]: -3 is not printed"}}, ""},
		"other figures": {"echo 1", `"repeats": true, "figures": 1, "other": {"goal": 25}`, Repetition{Figures: 1}, ""},
		"small ones":    {"echo 0.3", `"repeats": true, "figures": 5e-8`, Repetition{Figures: 1, Missing: []string{": 5e-8 is not printed"}}, ""},
		"at the root":   {"ls -d m/docs; echo 7", `"repeats": true, "figures": 7, "needs": ["$DATA", "m/docs"]`, Repetition{Figures: 1}, ""},
		"tests anew":    {`go env GOFLAGS`, `"repeats": true, "figures": 1`, Repetition{Figures: 1}, ""},
		"no data":       {"false", `"repeats": true, "figures": 7, "needs": ["m", "$NONE/set"]`, Repetition{Lacks: "$NONE/set"}, "skipped: needs $NONE/set"},
	} {
		root := store(t, "a.json", tt.command, tt.rest)
		got, err := Repeat(t.Context(), root, "m/docs/results/a.json", io.Discard)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Repetition{}, "Took"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		got.Took = time.Millisecond
		if tt.line != "" && got.String() != tt.line {
			t.Errorf("%s: %q, want %q", name, got, tt.line)
		}
	}
}

// A command that fails half-way has not printed its figures, whatever they are.
func TestRepeatFails(t *testing.T) {
	root := store(t, "a.json", "echo 7; false; echo 8", `"repeats": true, "figures": 7`)
	if r, err := Repeat(t.Context(), root, "m/docs/results/a.json", io.Discard); err == nil || !strings.Contains(err.Error(), "m/docs/results/a.json: exit status 1") {
		t.Errorf("%+v, %v", r, err)
	}
	root = store(t, "a.json", "echo 7", `"figures": 7`)
	if r, err := Repeat(t.Context(), root, "m/docs/results/a.json", io.Discard); !errors.Is(err, errRepeats) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRepeating(t *testing.T) {
	root := store(t, "a.json", "echo 7", `"figures": 7, "repeats": true`)
	if err := os.CopyFS(root, os.DirFS(store(t, "b.json", "date", `"figures": 7`))); err != nil {
		t.Fatal(err)
	}
	got, err := Repeating(root)
	if diff := cmp.Diff([]string{"m/docs/results/a.json"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
