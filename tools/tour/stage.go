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

// Stage is the environment of a tour: the checkout to build from and the directory
// for its output.
type Stage struct {
	Root string    // workspace root
	Bin  string    // directory of the built binaries
	Out  string    // directory for results and plots
	Log  io.Writer // progress

	module   string
	commands *[]string
	env      []string // additional environment of the tools
	err      error    // first error of the chapter; its methods do nothing after it
}

// chapter returns the stage of one module: its own directory below Out.
func (s *Stage) chapter(module string) *Stage {
	c := *s
	c.module = module
	c.commands = new([]string)
	return &c
}

// hasFailed reports whether the chapter has an error; it keeps err if that is the first.
func (s *Stage) hasFailed(err error) bool {
	if s.err == nil {
		s.err = err
	}
	return s.err != nil
}

// write creates a file of the chapter.
func (s *Stage) write(name, text string) {
	dir := filepath.Join(s.Out, s.module)
	if !s.hasFailed(nil) && !s.hasFailed(os.MkdirAll(dir, 0o755)) {
		s.hasFailed(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
}

// run runs a built tool in the chapter's directory and returns its stdout.
func (s *Stage) run(ctx context.Context, tool string, args ...string) []byte {
	dir := filepath.Join(s.Out, s.module)
	if s.hasFailed(nil) || s.hasFailed(os.MkdirAll(dir, 0o755)) {
		return nil
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
		s.hasFailed(fmt.Errorf("%s: %w\n%s", line, err, tail(stderr.String())))
	}
	return stdout.Bytes()
}

// runJSON runs a tool and decodes its stdout into v.
func (s *Stage) runJSON(ctx context.Context, v any, tool string, args ...string) []byte {
	out := s.run(ctx, tool, args...)
	if s.hasFailed(nil) {
		return nil
	}
	if err := json.Unmarshal(out, v); err != nil {
		s.hasFailed(fmt.Errorf("%s %s: its JSON: %w", tool, strings.Join(args, " "), err))
	}
	return out
}

// record adds the content of a tool's record.
func (s *Stage) record(ctx context.Context, r *Record) {
	var questions []Record
	s.runJSON(ctx, &questions, s.module, "record", "--json")
	for _, q := range questions {
		r.Outcomes, r.Held = r.Outcomes+q.Outcomes, r.Held+q.Held
	}
}

// step reports that a step begins; the returned function reports its duration.
func (s *Stage) step(name string) func() {
	fmt.Fprintf(s.Log, "  %s ... ", name)
	start := time.Now()
	return func() { fmt.Fprintf(s.Log, "%.1f s\n", time.Since(start).Seconds()) }
}

// brief returns a command line up to its first flag.
func brief(line string) string {
	name, _, _ := strings.Cut(line, " -")
	return name
}

// readJSON decodes a file that a tool left in the chapter's directory.
func (s *Stage) readJSON(v any, name string) {
	if s.hasFailed(nil) {
		return
	}
	data, err := os.ReadFile(filepath.Join(s.Out, s.module, name))
	if s.hasFailed(err) {
		return
	}
	if err := json.Unmarshal(data, v); err != nil {
		s.hasFailed(fmt.Errorf("%s: %w", name, err))
	}
}

// columns reads columns of numbers from a CSV file in the chapter's directory; rows
// that lack one are skipped.
func (s *Stage) columns(name string, wanted ...string) [][]float64 {
	all := make([][]float64, len(wanted))
	if s.hasFailed(nil) {
		return all
	}
	f, err := os.Open(filepath.Join(s.Out, s.module, name))
	if s.hasFailed(err) {
		return all
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		s.hasFailed(fmt.Errorf("%s: %w", name, cmp.Or(err, io.ErrUnexpectedEOF)))
		return all
	}
	for _, row := range rows[1:] {
		values := make([]float64, len(wanted))
		complete := true
		for i, column := range wanted {
			j := slices.Index(rows[0], column)
			if j < 0 {
				s.hasFailed(fmt.Errorf("%s: no column %s", name, column))
				return all
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
	if len(all[0]) == 0 {
		s.hasFailed(fmt.Errorf("%s: no complete row", name))
	}
	return all
}

// Commit returns the commit of a checkout, with -dirty if files differ.
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
