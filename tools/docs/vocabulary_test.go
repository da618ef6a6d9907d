package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/workspace"
)

// formTypes are the types of flags that have a form.
var formTypes = map[string][]string{
	"":         {"bool"},
	"TEXT":     {"string", "strings", "stringArray", "KEY=VALUE", "NAME=VALUE", "text or json"},
	"NUMBER":   {"int", "ints", "int32", "uint", "float"},
	"DURATION": {"duration"},
	"DATE":     {"date", "string"},
	"FILE":     {"string", "strings", "file", "files"},
	"DIR":      {"string", "directory"},
}

// option is a flag of a command, as "PROGRAM describe" prints it.
type option struct{ Name, Type string }

// command is a command, as "PROGRAM describe" prints it.
type command struct {
	Path  []string
	Flags []option
}

var (
	wordRow  = regexp.MustCompile("^\\| (`--[^|]*`) \\| ")
	wordForm = regexp.MustCompile("`--([\\w-]+)(?: ([A-Z]+))?`")
	unitName = regexp.MustCompile(`-(ms|us|ns|s|h|seconds|hours)$`)
	bareUnit = regexp.MustCompile(`(^| )(us|ms|s|min|h|MB|GB|%)$|, ?(us|ms|s|h|%)$`)
	coverage = regexp.MustCompile(`(?i)^(covered|coverage|inside|held)\b`)
)

// readVocabulary returns the form of each flag in the table of CONTRIBUTING.md.
func readVocabulary(text string) map[string]string {
	forms := map[string]string{}
	for line := range strings.Lines(text) {
		if row := wordRow.FindStringSubmatch(line); row != nil {
			for _, m := range wordForm.FindAllStringSubmatch(row[1], -1) {
				forms[m[1]] = m[2]
			}
		}
	}
	return forms
}

// checkVocabulary returns what is wrong with the flags of all programs' commands.
func checkVocabulary(forms map[string]string, programs map[string][]command) (findings []string) {
	uses := map[string]int{}
	for program, commands := range programs {
		for _, c := range commands {
			if c.Path[0] == "completion" {
				continue
			}
			for _, f := range c.Flags {
				uses[f.Name]++
				where := program + " " + strings.Join(c.Path, " ") + " --" + f.Name
				if unitName.MatchString("-" + f.Name) {
					findings = append(findings, where+": a unit in the name: want a duration")
				}
				if form, known := forms[f.Name]; known && !slices.Contains(formTypes[form], f.Type) {
					findings = append(findings, fmt.Sprintf("%s: type %s, the table of CONTRIBUTING.md has %q", where, f.Type, form))
				}
			}
		}
	}
	for name, n := range uses {
		if _, known := forms[name]; n > 1 && !known {
			findings = append(findings, fmt.Sprintf("--%s: %d commands have it, and the table of CONTRIBUTING.md does not", name, n))
		}
	}
	for name := range forms {
		if uses[name] == 0 {
			findings = append(findings, fmt.Sprintf("--%s: no command has it; it is in the table of CONTRIBUTING.md", name))
		}
	}
	slices.Sort(findings)
	return findings
}

// TestVocabulary checks that each column and axis has its unit in parentheses, and one
// name for the share inside the intervals.
func TestVocabulary(t *testing.T) {
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(ws.Root, "*", "internal", "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	titles := 0
	for _, file := range append(files, filepath.Join(ws.Root, "shared", "cli", "record.go")) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, title := range columnTitles(t, file) {
			titles++
			if wrongTitle(title) {
				t.Errorf("%s: %q: want a unit in parentheses, and \"in interval\"", file, title)
			}
		}
	}
	if titles < 150 {
		t.Errorf("found %d titles", titles)
	}
	text, err := os.ReadFile(filepath.Join(ws.Root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	if forms := readVocabulary(string(text)); len(forms) < 50 || forms["to"] != "DATE" || forms["tls-key"] != "FILE" {
		t.Errorf("the table of CONTRIBUTING.md: %v", forms)
	}
}

func wrongTitle(title string) bool {
	return bareUnit.MatchString(title) && !strings.HasPrefix(title, "within ") || coverage.MatchString(title)
}

// columnTitles returns the texts in a file that become titles of columns and axes: what a
// call of Table, a list called header, and the fields X and Y of a frame contain.
func columnTitles(t *testing.T, file string) (titles []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	texts := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				text, _ := strconv.Unquote(l.Value)
				titles = append(titles, text)
			}
			return true
		})
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Table" {
				for _, arg := range n.Args {
					texts(arg)
				}
			}
		case *ast.AssignStmt:
			if name, ok := n.Lhs[0].(*ast.Ident); ok && (name.Name == "header" || name.Name == "columns") {
				for _, from := range n.Rhs {
					texts(from)
				}
			}
		case *ast.KeyValueExpr:
			if name, ok := n.Key.(*ast.Ident); ok && (name.Name == "X" || name.Name == "Y") {
				texts(n.Value)
			}
		}
		return true
	})
	return titles
}

func TestVocabularyFindings(t *testing.T) {
	forms := readVocabulary("| flag | meaning |\n|---|---|\n| `--out FILE` | file to write |\n| `--from DATE`, `--to DATE` | range |\n| `--old` | gone |\n")
	got := checkVocabulary(forms, map[string][]command{
		"a": {{[]string{"x"}, []option{{"out", "file"}, {"slo-ms", "float"}, {"both", "int"}}}, {[]string{"completion", "bash"}, []option{{"no-descriptions", "bool"}}}},
		"b": {{[]string{"y", "z"}, []option{{"out", "int"}, {"from", "date"}, {"to", "duration"}, {"both", "int"}}}},
	})
	want := []string{
		"--both: 2 commands have it, and the table of CONTRIBUTING.md does not",
		"--old: no command has it; it is in the table of CONTRIBUTING.md",
		"a x --slo-ms: a unit in the name: want a duration",
		`b y z --out: type int, the table of CONTRIBUTING.md has "FILE"`,
		`b y z --to: type duration, the table of CONTRIBUTING.md has "DATE"`,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for title, wrong := range map[string]bool{"wait (h)": false, "wait h": true, "predicted, ms": true, "ms": true, "within 5 %": false, "covered": true, "jobs/s": false, "in interval": false} {
		if wrongTitle(title) != wrong {
			t.Errorf("%q: wrong %t", title, !wrong)
		}
	}
}
