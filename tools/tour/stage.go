package tour

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Stage is where a tour plays: the checkout it builds from and the folder its
// outputs go to.
type Stage struct {
	Root string    // workspace root
	Bin  string    // folder of the built binaries
	Out  string    // folder for results and plots
	Log  io.Writer // progress

	module   string
	commands *[]string
	env      []string // of the tools, beside the process's own
}

// chapter returns the stage of one module: its own folder below Out.
func (s *Stage) chapter(module string) *Stage {
	c := *s
	c.module = module
	c.commands = new([]string)
	return &c
}

// path names a file of the chapter; it makes the chapter's folder.
func (s *Stage) path(name string) (string, error) {
	dir := filepath.Join(s.Out, s.module)
	return filepath.Join(dir, name), os.MkdirAll(dir, 0o755)
}

// write makes a file of the chapter.
func (s *Stage) write(name, text string) (string, error) {
	path, err := s.path(name)
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// run executes a built tool in the chapter's folder and returns its stdout.
func (s *Stage) run(ctx context.Context, tool string, args ...string) ([]byte, error) {
	dir := filepath.Join(s.Out, s.module)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	line := strings.ReplaceAll(strings.Join(append([]string{tool}, args...), " "), s.Bin+string(filepath.Separator), "")
	*s.commands = append(*s.commands, line)
	cmd := exec.CommandContext(ctx, filepath.Join(s.Bin, tool), args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(filepath.Dir(s.Out), "record"), "PATH="+s.Bin+string(os.PathListSeparator)+os.Getenv("PATH")), s.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	defer s.step(brief(line))()
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", line, err, tail(stderr.String()))
	}
	return stdout.Bytes(), nil
}

// record adds what a tool's record says.
func (s *Stage) record(ctx context.Context, r *Record) error {
	var questions []Record
	if err := s.runJSON(ctx, &questions, s.module, "record", "--json"); err != nil {
		return err
	}
	for _, q := range questions {
		r.Outcomes, r.Held = r.Outcomes+q.Outcomes, r.Held+q.Held
	}
	return nil
}

// step tells that something begins; the function returned tells how long it took.
func (s *Stage) step(name string) func() {
	fmt.Fprintf(s.Log, "  %s ... ", name)
	start := time.Now()
	return func() { fmt.Fprintf(s.Log, "%.1f s\n", time.Since(start).Seconds()) }
}

// brief is a command line as far as its first flag.
func brief(line string) string {
	name, _, _ := strings.Cut(line, " -")
	return name
}

// runJSON is run with the tool's stdout decoded into v.
func (s *Stage) runJSON(ctx context.Context, v any, tool string, args ...string) error {
	out, err := s.run(ctx, tool, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, v); err != nil {
		return fmt.Errorf("%s %s: its JSON: %w", tool, strings.Join(args, " "), err)
	}
	return nil
}

// readJSON decodes a file that a tool left in the chapter's folder.
func (s *Stage) readJSON(v any, name string) error {
	data, err := os.ReadFile(filepath.Join(s.Out, s.module, name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// columns reads columns of numbers from a CSV file in the chapter's folder, the
// rows that have all of them.
func (s *Stage) columns(name string, wanted ...string) ([][]float64, error) {
	f, err := os.Open(filepath.Join(s.Out, s.module, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%s: %w", name, cmp.Or(err, io.ErrUnexpectedEOF))
	}
	all := make([][]float64, len(wanted))
	for _, row := range rows[1:] {
		values := make([]float64, len(wanted))
		complete := true
		for i, column := range wanted {
			j := slices.Index(rows[0], column)
			if j < 0 {
				return nil, fmt.Errorf("%s: no column %s", name, column)
			}
			v, err := strconv.ParseFloat(row[j], 64)
			complete = complete && err == nil
			values[i] = v
		}
		for i, v := range values {
			if complete {
				all[i] = append(all[i], v)
			}
		}
	}
	return all, nil
}

// Commit names the state of a checkout, with -dirty where files differ.
func Commit(ctx context.Context, root string) string {
	cmd := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude=*")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func tail(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
