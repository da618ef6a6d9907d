package scripttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Guide runs the console blocks of a Markdown file, in order, in one shell that
// stops at the first command that fails, and compares what each command prints
// with what the guide shows below it, if anything: numbers, the width of columns
// and rules are free, and "..." stands for any text. Processes that a command
// leaves in the background end with the guide.
//
// The pairs replace text of the commands, as strings.NewReplacer does, to make
// them short; each must be found.
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
	p.Cmds["guide"] = func(ts *testscript.TestScript, _ bool, _ []string) { walk(ts, file, steps) }
	Run(t, p)
}

// Sources is a setup that gives a guide a copy of the module in a folder, under
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

// step is a command of a guide and the output shown below it.
type step struct {
	line          int // of the file
	command, want string
}

var heredoc = regexp.MustCompile(`<<-?['"]?(\w+)['"]?`)

// parse finds the steps in the console blocks of a text.
func parse(text string, pairs []string) ([]step, error) {
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			return nil, fmt.Errorf("%q, to be replaced, is not there", pairs[i])
		}
	}
	replace := strings.NewReplacer(pairs...)
	var steps []step
	inside, until := false, "" // in a block; in a command that ends with this line, or with the first that does not end in "\"
	for i, line := range strings.Split(text, "\n") {
		last := len(steps) - 1
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case !inside:
			inside = line == "```console"
		case until != "":
			steps[last].command += "\n" + replace.Replace(line)
			if line == until || until == `\` && !strings.HasSuffix(line, `\`) {
				until = ""
			}
		case line == "```":
			inside = false
		case isCommand:
			steps = append(steps, step{line: i + 1, command: replace.Replace(command)})
			until = continued(command)
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

// continued says what ends a command that does not end with its first line: the
// mark of its here-document, or a backslash for the first line without one.
func continued(command string) string {
	if mark := heredoc.FindStringSubmatch(command); mark != nil {
		return mark[1]
	}
	if strings.HasSuffix(command, `\`) {
		return `\`
	}
	return ""
}

// walk runs the steps in one shell and judges what each printed.
func walk(ts *testscript.TestScript, file string, steps []step) {
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
		if s.want != "" && !shaped(s.want, got) {
			ts.Fatalf("%s:%d: $ %s\nthe guide shows\n%sbut it prints\n%s", file, s.line, s.command, s.want, got)
		}
	}
}

// mark separates what the steps print.
const mark = "=== step "

var (
	number = regexp.MustCompile(`[+-]?[0-9]+(?:[.,:e+-]*[0-9]+)*`)
	rule   = regexp.MustCompile(`-{2,}`)
	blanks = regexp.MustCompile(`[ \t]+`)
)

// shaped says whether an output has the shape of the one wanted.
func shaped(want, got string) bool {
	parts := strings.Split(regexp.QuoteMeta(shape(want)), `\.\.\.`)
	pattern := "^" + strings.Join(parts, "(?s:.*)") + "$"
	return regexp.MustCompile(pattern).MatchString(shape(got))
}

// shape masks what differs from run to run.
func shape(text string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = rule.ReplaceAllString(line, "--")
		line = number.ReplaceAllString(line, "0")
		lines = append(lines, strings.TrimSpace(blanks.ReplaceAllString(line, " ")))
	}
	return strings.Join(lines, "\n")
}
