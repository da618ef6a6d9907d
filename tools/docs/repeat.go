package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Repetition is what came of running the command of a stored result again.
type Repetition struct {
	Lacks   string   // what the command needs and is not there: it did not run
	Figures int      // that the result holds
	Missing []string // those that no number of the output rounds to
	Took    time.Duration
}

// String is one line, and one more for each figure that is missing.
func (r Repetition) String() string {
	if r.Lacks != "" {
		return "skipped: needs " + r.Lacks
	}
	head := fmt.Sprintf("%d of %d figures found again, %.0f s", r.Figures-len(r.Missing), r.Figures, r.Took.Seconds())
	return strings.Join(append([]string{head}, r.Missing...), "\n\t")
}

// Repeating returns the stored results of a checkout whose command repeats, as
// paths below its root.
func Repeating(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, "*", "docs", "results", "*.json"))
	if err != nil {
		return nil, err
	}
	var found []string
	for _, file := range files {
		r, err := readResult(file)
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

// errRepeats is of a result whose command is not for running again.
var errRepeats = errors.New("the result does not repeat: its figures are of one run")

// Repeat runs the command of a stored result at the root of the checkout and looks
// in what it prints for the result's figures. Its errors are shown on stderr.
func Repeat(ctx context.Context, root, file string, stderr io.Writer) (Repetition, error) {
	r, err := readResult(filepath.Join(root, file))
	if err != nil {
		return Repetition{}, err
	}
	if !r.Repeats {
		return Repetition{}, fmt.Errorf("%s: %w", file, errRepeats)
	}
	if lacks := r.lacks(root); lacks != "" {
		return Repetition{Lacks: lacks}, nil
	}
	start := time.Now()
	output, err := shell(ctx, root, r.Command, stderr)
	if err != nil {
		return Repetition{}, fmt.Errorf("%s: %w", file, err)
	}
	figures, missing, err := r.missing(output)
	if err != nil {
		return Repetition{}, fmt.Errorf("%s: %w", file, err)
	}
	return Repetition{Figures: figures, Missing: missing, Took: time.Since(start)}, nil
}

// lacks returns the first of the command's needs that is not there.
func (r Result) lacks(root string) string {
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

// shell runs a line and returns what it prints. Tests run anew in it: what Go
// keeps of an earlier run does not know that files outside their module changed.
func shell(ctx context.Context, dir, line string, stderr io.Writer) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-ec", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -count=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // what the shell started too
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
		shown := plain(n)
		if !slices.ContainsFunc(printed, func(v float64) bool { return rounds(v, shown) }) {
			missing = append(missing, fmt.Sprintf("%s: %s is not printed", strings.TrimPrefix(place, "."), n))
		}
	})
	slices.Sort(missing)
	return count, missing, nil
}

// plain writes a number without sign and exponent.
func plain(n json.Number) string {
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
