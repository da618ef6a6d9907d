package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foretime/foretime/tools/workspace"
)

var again = flag.String("again", "", "stored result whose command runs again, or all that repeat")

// TestFiguresAgain reruns the commands of stored results and looks for their
// figures in the output. `make figures` runs it.
func TestFiguresAgain(t *testing.T) {
	if *again == "" {
		t.Skip("takes half an hour: make figures")
	}
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Fields(*again)
	if *again == "all" {
		if files, err = repeating(ws.Root); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			r, err := repeat(t.Context(), ws.Root, file, os.Stderr)
			if errors.Is(err, errRepeats) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Lacks != "" {
				t.Skip(r)
			}
			if len(r.Missing) > 0 {
				t.Error(r)
			}
			t.Log(r)
		})
	}
}

// repetition is the outcome of rerunning the command of a stored result.
type repetition struct {
	Lacks   string   // missing requirement of the command: it did not run
	Figures int      // number of figures in the result
	Missing []string // figures that no number of the output rounds to
	Took    time.Duration
}

// String returns one line, and one more for each missing figure.
func (r repetition) String() string {
	if r.Lacks != "" {
		return "skipped: needs " + r.Lacks
	}
	head := fmt.Sprintf("%d of %d figures found again, %.0f s", r.Figures-len(r.Missing), r.Figures, r.Took.Seconds())
	return strings.Join(append([]string{head}, r.Missing...), "\n\t")
}

// repeating returns the stored results of a checkout whose command repeats, as
// paths relative to its root.
func repeating(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, "*", "docs", "results", "*.json"))
	if err != nil {
		return nil, err
	}
	var found []string
	for _, file := range files {
		r, err := ReadResult(file)
		if err != nil {
			return nil, err
		}
		if !r.Repeats {
			continue
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return nil, err
		}
		found = append(found, rel)
	}
	return found, nil
}

// errRepeats is returned for a result whose command gives different figures on each
// run.
var errRepeats = errors.New("the result does not repeat: its figures are of one run")

// repeat runs the command of a stored result at the root of the checkout and looks
// for the result's figures in its output. The command's errors are shown on stderr.
func repeat(ctx context.Context, root, file string, stderr io.Writer) (repetition, error) {
	r, err := ReadResult(filepath.Join(root, file))
	if err != nil {
		return repetition{}, err
	}
	if !r.Repeats {
		return repetition{}, fmt.Errorf("%s: %w", file, errRepeats)
	}
	if lacks := r.firstMissing(root); lacks != "" {
		return repetition{Lacks: lacks}, nil
	}
	start := time.Now()
	output, err := shell(ctx, root, r.Command, stderr)
	if err != nil {
		return repetition{}, fmt.Errorf("%s: %w", file, err)
	}
	figures, missing, err := r.missing(output)
	if err != nil {
		return repetition{}, fmt.Errorf("%s: %w", file, err)
	}
	return repetition{Figures: figures, Missing: missing, Took: time.Since(start)}, nil
}

// firstMissing returns the first of the command's needs that is missing.
func (r Result) firstMissing(root string) string {
	for _, need := range r.Needs {
		path := os.ExpandEnv(need)
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		if _, err := os.Stat(path); err != nil {
			return need
		}
	}
	return ""
}

// shell runs a line and returns its output. Cached test results are not used: Go's
// cache does not notice changes of files outside a module.
func shell(ctx context.Context, dir, line string, stderr io.Writer) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-ec", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -count=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // the shell's children too
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, stderr
	err := cmd.Run()
	return stdout.String(), err
}

// missing counts the figures and describes those that no number of the output
// rounds to, each with its place.
func (r Result) missing(output string) (count int, missing []string, err error) {
	d := json.NewDecoder(bytes.NewReader(r.Figures))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return 0, nil, err
	}
	printed := numbersIn(output)
	leaves("", tree, func(place string, n json.Number) {
		count++
		shown := unsigned(n)
		if !slices.ContainsFunc(printed, func(v float64) bool { return roundsTo(v, shown) }) {
			missing = append(missing, fmt.Sprintf("%s: %s is not printed", strings.TrimPrefix(place, "."), n))
		}
	})
	slices.Sort(missing)
	return count, missing, nil
}

// unsigned writes a number without sign and exponent.
func unsigned(n json.Number) string {
	text := strings.TrimPrefix(n.String(), "-")
	if v, err := n.Float64(); err == nil && strings.ContainsAny(text, "eE") {
		text = strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, 64), "-")
	}
	return text
}

// leaves visits each number of a JSON value.
func leaves(place string, value any, visit func(place string, n json.Number)) {
	switch v := value.(type) {
	case json.Number:
		visit(place, v)
	case []any:
		for i, x := range v {
			leaves(fmt.Sprintf("%s[%d]", place, i), x, visit)
		}
	case map[string]any:
		for name, x := range v {
			leaves(place+"."+name, x, visit)
		}
	}
}

// store writes a result of a fictitious module and returns the checkout's root.
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
		want          repetition
		line          string
	}{
		"all": {"echo 12.344 % of 1500; echo .25 -4.7 3e-5 17 >&2", `"repeats": true, "figures": {"error": 0.12344, "percent": 12.3, "of": [1500]}`,
			repetition{Figures: 3, Missing: []string{"error: 0.12344 is not printed"}}, "2 of 3 figures found again, 0 s\n\terror: 0.12344 is not printed"},
		"a share for a percentage": {"echo 0.12344 -4.71 0.00003", `"repeats": true, "figures": {"a": {"b": 12.3, "off": -4.7, "small": 3e-5, "what": "17 s", "no": null}, "5": 12}`,
			repetition{Figures: 4}, "4 of 4 figures found again, 0 s"},
		"nothing printed": {"true", `"repeats": true, "figures": {"rows": [[1, 2.0], [0.5, -3]]}`,
			repetition{Figures: 4, Missing: []string{"rows[0][0]: 1 is not printed", "rows[0][1]: 2.0 is not printed", "rows[1][0]: 0.5 is not printed", "rows[1][1]: -3 is not printed"}}, ""},
		"other figures": {"echo 1", `"repeats": true, "figures": 1, "other": {"goal": 25}`, repetition{Figures: 1}, ""},
		"small ones":    {"echo 0.3", `"repeats": true, "figures": 5e-8`, repetition{Figures: 1, Missing: []string{": 5e-8 is not printed"}}, ""},
		"at the root":   {"ls -d m/docs; echo 7", `"repeats": true, "figures": 7, "needs": ["$DATA", "m/docs"]`, repetition{Figures: 1}, ""},
		"tests again":   {`go env GOFLAGS`, `"repeats": true, "figures": 1`, repetition{Figures: 1}, ""},
		"no data":       {"false", `"repeats": true, "figures": 7, "needs": ["m", "$NONE/set"]`, repetition{Lacks: "$NONE/set"}, "skipped: needs $NONE/set"},
	} {
		root := store(t, "a.json", tt.command, tt.rest)
		got, err := repeat(t.Context(), root, "m/docs/results/a.json", io.Discard)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(repetition{}, "Took"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		got.Took = time.Millisecond
		if tt.line != "" && got.String() != tt.line {
			t.Errorf("%s: %q, want %q", name, got, tt.line)
		}
	}
}

// TestRepeatFails checks that a command that fails half-way has no figures.
func TestRepeatFails(t *testing.T) {
	root := store(t, "a.json", "echo 7; false; echo 8", `"repeats": true, "figures": 7`)
	if r, err := repeat(t.Context(), root, "m/docs/results/a.json", io.Discard); err == nil || !strings.Contains(err.Error(), "m/docs/results/a.json: exit status 1") {
		t.Errorf("%+v, %v", r, err)
	}
	root = store(t, "a.json", "echo 7", `"figures": 7`)
	if r, err := repeat(t.Context(), root, "m/docs/results/a.json", io.Discard); !errors.Is(err, errRepeats) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRepeatingResults(t *testing.T) {
	root := store(t, "a.json", "echo 7", `"figures": 7, "repeats": true`)
	if err := os.CopyFS(root, os.DirFS(store(t, "b.json", "date", `"figures": 7`))); err != nil {
		t.Fatal(err)
	}
	got, err := repeating(root)
	if diff := cmp.Diff([]string{"m/docs/results/a.json"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
