package scripttest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Guide runs the console blocks of a Markdown file, in order, in one shell that
// stops at the first command that fails. It compares the output of each command
// exactly with the output that the guide shows, if any. "..." matches any text, and
// on a line of its own any number of lines. Numbers that vary between runs are listed
// in a Markdown comment before the block, with a range whose end is at most five times
// its beginning, or in their order, or alone if they depend on the machine and its load:
//
//	<!-- varies: 46.9 in 20..90, 10 <= 36.9 <= 40.2, 0.13 -->
//
// A number in an order that the block does not show is a fixed bound.
// In a block with such a comment or "..." the width of columns is ignored.
// Processes that a command leaves in the background are killed at the end of the
// guide. With -update the output is written into the guide, unless the block has
// such a comment or "...".
//
// The pairs replace text of the commands, as strings.NewReplacer does, to
// shorten them; each must occur.
func Guide(t *testing.T, file string, p testscript.Params, pairs ...string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := parse(string(text), pairs)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	script := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(file), ".md")+".txtar")
	if err := os.WriteFile(script, []byte("guide\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Dir, p.Files = "", []string{script}
	p.Cmds = with(p.Cmds)
	p.Cmds["guide"] = func(ts *testscript.TestScript, _ bool, _ []string) { runSteps(ts, file, steps) }
	Run(t, p)
}

// Sources returns a setup that gives a guide a copy of the module in a directory of
// its name, and a Go that builds it without the workspace and without a network.
func Sources(t *testing.T, module string) func(*testscript.Env) error {
	t.Helper()
	root, err := filepath.Abs(module)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPATH", "GOTOOLCHAIN").Output()
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"GOWORK": "off", "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
	if err := json.Unmarshal(out, &vars); err != nil {
		t.Fatal(err)
	}
	return func(env *testscript.Env) error {
		for name, value := range vars {
			env.Setenv(name, value)
		}
		if err := os.Symlink(filepath.Join(root, "..", "shared"), filepath.Join(env.WorkDir, "shared")); err != nil {
			return err
		}
		return os.CopyFS(filepath.Join(env.WorkDir, filepath.Base(root)), os.DirFS(root))
	}
}

// step is a command of a guide and the output that the guide shows for it.
type step struct {
	line          int // in the file
	command, want string
	varies        []varying
}

// varying is a number that a guide shows, and what holds for the printed one.
type varying struct {
	shown     string
	low, high float64 // of its range
	least     string  // another shown number, or a bound, that it is not below
}

// widest is the greatest ratio of the ends of a range: a wider one checks little.
const widest = 5

var heredoc = regexp.MustCompile(`<<-?['"]?(\w+)['"]?`)

// parse returns the steps in the console blocks of a text.
func parse(text string, pairs []string) ([]step, error) {
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			return nil, fmt.Errorf("%q, to be replaced, is not there", pairs[i])
		}
	}
	replace := strings.NewReplacer(pairs...)
	var steps []step
	var varies []varying
	inside, until := false, "" // inside a block; until: the line that ends the command, or "\" if it ends at the first line without a backslash
	for i, line := range strings.Split(text, "\n") {
		last := len(steps) - 1
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case !inside:
			if list, ok := strings.CutPrefix(line, "<!-- varies: "); ok {
				var err error
				if varies, err = ranges(strings.TrimSuffix(list, " -->")); err != nil {
					return nil, fmt.Errorf("line %d: %w", i+1, err)
				}
			}
			inside = line == "```console"
		case until != "":
			steps[last].command += "\n" + replace.Replace(line)
			if line == until || until == `\` && !strings.HasSuffix(line, `\`) {
				until = ""
			}
		case line == "```":
			inside, varies = false, nil
		case isCommand:
			steps = append(steps, step{line: i + 1, command: replace.Replace(command), varies: varies})
			until = commandEnd(command)
		case last < 0:
			return nil, fmt.Errorf("line %d: output before any command", i+1)
		default:
			steps[last].want += line + "\n"
		}
	}
	if len(steps) == 0 {
		return nil, errors.New("no command in a console block")
	}
	return steps, nil
}

// commandEnd returns the end of a command of several lines: the mark of its
// here-document, or a backslash for the first line without one.
func commandEnd(command string) string {
	if mark := heredoc.FindStringSubmatch(command); mark != nil {
		return mark[1]
	}
	if strings.HasSuffix(command, `\`) {
		return `\`
	}
	return ""
}

// runSteps runs the steps in one shell and compares what each printed.
func runSteps(ts *testscript.TestScript, file string, steps []step) {
	var b strings.Builder
	b.WriteString("exec 2>&1\ntrap 'kill $(jobs -p) 2> /dev/null; wait' EXIT\n")
	for i, s := range steps {
		fmt.Fprintf(&b, "echo '%s%d'\n%s\n", mark, i, s.command)
	}
	fmt.Fprintf(&b, "echo '%s%d'\n", mark, len(steps))
	failed := ts.Exec("bash", "-e", "-c", b.String())
	printed := strings.Split(ts.ReadFile("stdout"), mark)[1:]
	for i, s := range steps {
		_, got, _ := strings.Cut(printed[min(i, len(printed)-1)], "\n")
		if failed != nil && i == len(printed)-1 {
			ts.Fatalf("%s:%d: $ %s\n%s%v", file, s.line, s.command, got, failed)
		}
		if s.want == "" {
			continue
		}
		if err := s.compare(got); err != nil && *update && s.literal() {
			s.write(ts, file, got)
		} else if err != nil {
			ts.Fatalf("%s:%d: $ %s\n%v: the guide shows\n%sbut it prints\n%s", file, s.line, s.command, err, s.want, got)
		}
	}
}

// mark separates the output of the steps.
const mark = "=== step "

var (
	rule   = regexp.MustCompile(`-{2,}`)
	blanks = regexp.MustCompile(`[ \t]+`)
	indent = regexp.MustCompile(`(?m)^ `)
)

const number = `([+-]?[0-9]+(?:[.,:e+-]*[0-9]+)*)`

// ranges reads "46.9 in 20..90, 10 <= 36.9, 0.13".
func ranges(list string) ([]varying, error) {
	var all []varying
	for _, text := range strings.Split(strings.TrimSpace(list), ", ") {
		shown, bounds, ranged := strings.Cut(text, " in ")
		v := varying{low: math.Inf(-1), high: math.Inf(1)}
		if ranged {
			low, high, _ := strings.Cut(bounds, "..")
			var err, other error
			v.low, err = strconv.ParseFloat(low, 64)
			v.high, other = strconv.ParseFloat(high, 64)
			if err != nil || other != nil || v.high > widest*v.low {
				return nil, fmt.Errorf("varies: %q: want NUMBER in LOW..HIGH, and HIGH at most %d times LOW", text, widest)
			}
		}
		for _, v.shown = range strings.Split(shown, " <= ") {
			x, err := strconv.ParseFloat(v.shown, 64)
			if err != nil || x < v.low || x > v.high {
				return nil, fmt.Errorf("varies: %q: %s is no number, or not in the range", text, v.shown)
			}
			all = append(all, v)
			v.least = v.shown
		}
	}
	return all, nil
}

// literal reports whether the output is the same on each run.
func (s *step) literal() bool { return len(s.varies) == 0 && !strings.Contains(s.want, "...") }

// compare returns an error if the output differs from the guide's.
func (s *step) compare(got string) error {
	if s.literal() {
		if trimBlanks(got) != trimBlanks(s.want) {
			return errors.New("not the same")
		}
		return nil
	}
	pattern, order := s.pattern()
	found := regexp.MustCompile(pattern).FindStringSubmatch(foldColumns(got))
	if found == nil {
		return errors.New("not the same")
	}
	printed := map[string]string{}
	for i, v := range order {
		printed[v.shown] = found[i+1]
	}
	for i, v := range order {
		x, err := strconv.ParseFloat(found[i+1], 64)
		if err != nil || x < v.low || x > v.high {
			return fmt.Errorf("%s, shown as %s, is not in %g..%g", found[i+1], v.shown, v.low, v.high)
		}
		least := cmp.Or(printed[v.least], v.least)
		if bound, err := strconv.ParseFloat(least, 64); v.least != "" && (err != nil || x < bound) {
			return fmt.Errorf("%s, shown as %s, is below %s, shown as %s", found[i+1], v.shown, least, v.least)
		}
	}
	return nil
}

// pattern returns an expression that matches the step's output. Its groups are the
// varying numbers, in order.
func (s *step) pattern() (string, []varying) {
	var b strings.Builder
	var order []varying
	b.WriteString("^")
	whole := foldColumns(s.want)
	text := whole
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "...\n"); ok && (b.Len() == 1 || beginsLine(whole, text)) {
			b.WriteString(`(?s:(?:.*\n)?)`) // whole lines, or none
			text = rest
			continue
		}
		if rest, ok := strings.CutPrefix(text, "..."); ok {
			b.WriteString("(?s:.*)")
			text = rest
			continue
		}
		n := 1
		if at := regexp.MustCompile("^" + number).FindString(text); at != "" {
			n = len(at)
			if i := slices.IndexFunc(s.varies, func(v varying) bool { return v.shown == at }); i >= 0 {
				b.WriteString(number)
				order = append(order, s.varies[i])
				text = text[n:]
				continue
			}
		}
		b.WriteString(regexp.QuoteMeta(text[:n]))
		text = text[n:]
	}
	return b.String() + "$", order
}

// beginsLine reports whether the rest of a text starts at the beginning of a line.
func beginsLine(whole, rest string) bool { return whole[len(whole)-len(rest)-1] == '\n' }

// trimBlanks returns the text without blanks at the ends of lines and of the text.
func trimBlanks(text string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		lines = append(lines, strings.TrimRight(line, " \t\n"))
	}
	return strings.Join(lines, "\n")
}

// foldColumns returns the text with runs of blanks and dashes shortened and without
// blanks before a line, so column widths do not matter: those of the first column
// set its lines' indents. Each line ends with a line feed.
func foldColumns(text string) string {
	return indent.ReplaceAllString(blanks.ReplaceAllString(rule.ReplaceAllString(trimBlanks(text)+"\n", "--"), " "), "")
}

// write puts the output of a step into the guide.
func (s *step) write(ts *testscript.TestScript, file, got string) {
	text, err := os.ReadFile(file)
	ts.Check(err)
	before, after, ok := strings.Cut(string(text), s.want)
	if !ok || strings.Contains(after, s.want) {
		ts.Fatalf("%s:%d: this output occurs more than once: update it by hand\n%s", file, s.line, got)
	}
	ts.Check(os.WriteFile(file, []byte(before+trimBlanks(got)+"\n"+after), 0o644))
}
