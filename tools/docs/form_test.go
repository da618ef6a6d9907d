package docs

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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

// Rules of form, with the ceilings of each module in form.txt.
const (
	ruleComment    = "comment"    // a function's comment begins "NAME is" or "NAME are"
	ruleName       = "name"       // a function is named by a lone participle (-ed)
	ruleHeader     = "header"     // an if header has a statement that its condition does not use
	ruleAssignment = "assignment" // three or more parallel assignments
	ruleProse      = "prose"      // a phrase that Prose rejects, in a comment
)

// formRule says what to write instead of what a rule rejects.
var formRule = map[string]string{
	ruleComment:    "say what the function does or returns",
	ruleName:       "name a function by a verb and its object",
	ruleHeader:     "declare in an if header only what its condition uses",
	ruleAssignment: "one assignment a line",
	ruleProse:      "see make check STEPS=prose",
}

// place is a place in a production file that a rule of form rejects.
type place struct {
	rule, file string
	line       int
	what       string
}

func (p place) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", p.file, p.line, p.what, formRule[p.rule])
}

// Form compares the places in each module's production files of Go and C that the rules
// of form reject with the ceilings in form.txt. A count above its ceiling gives one line
// for each place; a count below it, one line with the new ceiling: ceilings only fall.
func Form(ws *workspace.Workspace) ([]string, error) {
	ceilings, err := readCeilings(filepath.Join(ws.Root, "tools", "docs", "form.txt"))
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, m := range ws.Modules {
		places, err := rejectedPlaces(ws.Root, m.Dir)
		if err != nil {
			return nil, err
		}
		for _, rule := range []string{ruleComment, ruleName, ruleHeader, ruleAssignment, ruleProse} {
			found := slices.DeleteFunc(slices.Clone(places), func(p place) bool { return p.rule != rule })
			ceiling := ceilings[m.Name+" "+rule]
			if len(found) < ceiling {
				findings = append(findings, fmt.Sprintf("tools/docs/form.txt: %s %s is %d now: lower its ceiling, %d", m.Name, rule, len(found), ceiling))
			}
			if len(found) > ceiling {
				findings = append(findings, fmt.Sprintf("%s %s: %d places, the ceiling in tools/docs/form.txt is %d", m.Name, rule, len(found), ceiling))
				for _, p := range found {
					findings = append(findings, p.String())
				}
			}
		}
	}
	return findings, nil
}

// readCeilings reads lines "MODULE RULE COUNT"; # starts a comment.
func readCeilings(path string) (map[string]int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ceilings := map[string]int{}
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 || formRule[fields[1]] == "" {
			return nil, fmt.Errorf("%s:%d: want MODULE RULE COUNT, found %q", path, i+1, line)
		}
		count, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		ceilings[fields[0]+" "+fields[1]] = count
	}
	return ceilings, nil
}

// rejectedPlaces returns the places in the production files below dir that a rule
// rejects, in order of file and line.
func rejectedPlaces(root, dir string) ([]place, error) {
	var places []place
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"testdata", "testkit", "out"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		extension := filepath.Ext(name)
		isGo := extension == ".go" && !strings.HasSuffix(name, "_test.go")
		isC := extension == ".c" || extension == ".h"
		if !isGo && !isC {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if isC {
			places = append(places, rejectedInC(filepath.ToSlash(name), string(text))...)
			return nil
		}
		found, err := rejectedInGo(filepath.ToSlash(name), text)
		places = append(places, found...)
		return err
	})
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return places, err
}

// participles match a name of one word that ends in -ed. notParticiples are nouns and
// verbs that do.
var (
	participle     = regexp.MustCompile(`^[A-Za-z][a-z]*ed$`)
	notParticiples = []string{"bleed", "breed", "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed"}
)

// isParticiple reports whether a function's name is a lone participle.
func isParticiple(name string) bool {
	return participle.MatchString(name) && !slices.Contains(notParticiples, strings.ToLower(name))
}

// rejectedInGo returns the places of a Go file.
func rejectedInGo(name string, text []byte) ([]place, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	places := proseInComments(name, source(text, false))
	add := func(rule string, at token.Pos, what string) {
		places = append(places, place{rule, name, set.Position(at).Line, what})
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if isParticiple(n.Name.Name) {
				add(ruleName, n.Pos(), "func "+n.Name.Name)
			}
			if definesByClause(n.Doc.Text(), n.Name.Name) {
				add(ruleComment, n.Pos(), "the comment of "+n.Name.Name)
			}
		case *ast.IfStmt:
			if n.Init != nil && !usedIn(n.Init, n.Cond) {
				add(ruleHeader, n.Pos(), "an if header")
			}
		case *ast.AssignStmt:
			if len(n.Lhs) >= 3 && len(n.Rhs) == len(n.Lhs) {
				add(ruleAssignment, n.Pos(), fmt.Sprintf("%d parallel assignments", len(n.Lhs)))
			}
		case *ast.ValueSpec:
			if len(n.Names) >= 3 && len(n.Values) == len(n.Names) {
				add(ruleAssignment, n.Pos(), fmt.Sprintf("%d parallel assignments", len(n.Names)))
			}
		}
		return true
	})
	return places, nil
}

// definesByClause reports whether a comment begins "NAME is" or "NAME are".
func definesByClause(comment, name string) bool {
	return strings.HasPrefix(comment, name+" is ") || strings.HasPrefix(comment, name+" are ")
}

// usedIn reports whether a condition uses a name that a statement sets.
func usedIn(statement ast.Stmt, condition ast.Expr) bool {
	var set []ast.Expr
	switch s := statement.(type) {
	case *ast.AssignStmt:
		set = s.Lhs
	case *ast.IncDecStmt:
		set = []ast.Expr{s.X}
	}
	used := false
	for _, e := range set {
		name := ""
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				name = id.Name // the last one of a selector
			}
			return true
		})
		ast.Inspect(condition, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			used = used || ok && id.Name == name
			return true
		})
	}
	return used
}

// proseInComments returns the places of rejected phrases in the comments of a file, given
// line by line.
func proseInComments(name string, lines []string) []place {
	var places []place
	for _, finding := range stumbles(name, lines) {
		_, rest, _ := strings.Cut(finding, ":")
		number, what, _ := strings.Cut(rest, ":")
		line, _ := strconv.Atoi(number)
		places = append(places, place{ruleProse, name, line, strings.TrimSpace(what)})
	}
	return places
}

// commentC matches a comment or a string of C; definitionC the definition of a function, at
// the start of a line, with the comment before it.
var (
	commentC    = regexp.MustCompile(`(?s)"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/`)
	definitionC = regexp.MustCompile(`(?m)^(?:[A-Za-z_][\w \t*]*[ \t*])(\w+)\([^;{}]*\)\s*\{`)
)

// rejectedInC returns the places of a C file.
func rejectedInC(name, text string) []place {
	lines := make([]string, 1+strings.Count(text, "\n"))
	ends := map[int]string{} // comments by the line after their end
	for _, at := range commentC.FindAllStringIndex(text, -1) {
		comment := text[at[0]:at[1]]
		if comment[0] == '"' {
			continue
		}
		first := strings.Count(text[:at[0]], "\n")
		body := strings.Split(strings.TrimSuffix(comment, "*/"), "\n")
		for i, line := range body {
			body[i] = strings.TrimLeft(line, "/* \t")
			lines[first+i] += inlineCode.ReplaceAllString(body[i], "``")
		}
		start, continues := ends[first]
		if !continues || !strings.HasPrefix(comment, "//") {
			start = strings.TrimSpace(strings.Join(body, " "))
		}
		delete(ends, first)
		ends[first+len(body)] = start
	}
	places := proseInComments(name, lines)
	for _, at := range definitionC.FindAllStringSubmatchIndex(text, -1) {
		function := text[at[2]:at[3]]
		line := strings.Count(text[:at[0]], "\n")
		if isParticiple(function) {
			places = append(places, place{ruleName, name, line + 1, "function " + function})
		}
		if definesByClause(ends[line], function) {
			places = append(places, place{ruleComment, name, line + 1, "the comment of " + function})
		}
	}
	return places
}

// TestFormPlaces checks the places that each rule rejects, and that others are accepted.
func TestFormPlaces(t *testing.T) {
	const code = `package p

// multiplied is twice x.
func multiplied(x int) int {
	a, b, c := 1, 2, 3
	if clear(part); x > 0 {
		return a + b + c
	}
	if y := x; x > 1 {
		return y
	}
	return 0
}

// double returns it, held against x.
func double(x int) (int, int, error) {
	if y, err := f(x); err != nil {
		return y, 0, err
	}
	if s.n++; s.n > 3 {
		return 0, 0, nil
	}
	a, b, err := double(x)
	return a, b, err
}

func need() {}
`
	const c = `// armed is 1 while
// the gate is closed
static int armed(void)
{
	return 1; /* stands for it */
}
/* count_waits is a number. */
static long *count_waits(int a,
                         int b) {
	puts("beside");
	return 0;
}
`
	fromGo, err := rejectedInGo("p.go", []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range append(fromGo, rejectedInC("p.c", c)...) {
		got = append(got, fmt.Sprintf("%s:%d %s", p.file, p.line, p.rule))
	}
	slices.Sort(got)
	want := []string{
		"p.c:3 comment", "p.c:3 name", "p.c:5 prose", "p.c:8 comment",
		"p.go:15 prose", "p.go:4 comment", "p.go:4 name", "p.go:5 assignment", "p.go:6 header", "p.go:9 header",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

// TestFormCeilings checks that a count above its ceiling and one below it are findings.
func TestFormCeilings(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("m/a.go", "package a\n\nfunc added() {}\n")
	write("m/a_test.go", "package a\n\nfunc kept() {}\n")
	write("m/testkit/k.go", "package k\n\nfunc kept() {}\n")
	ws := &workspace.Workspace{Root: root, Modules: []workspace.Module{{Name: "m", Dir: filepath.Join(root, "m")}}}
	for _, tt := range []struct {
		ceilings string
		want     []string
	}{
		{"m name 1 # why\n", nil},
		{"", []string{"m name: 1 places, the ceiling in tools/docs/form.txt is 0", "m/a.go:3: func added: name a function by a verb and its object"}},
		{"m name 2\nm prose 1\n", []string{"tools/docs/form.txt: m name is 1 now: lower its ceiling, 2", "tools/docs/form.txt: m prose is 0 now: lower its ceiling, 1"}},
	} {
		write("tools/docs/form.txt", tt.ceilings)
		got, err := Form(ws)
		if diff := gocmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", tt.ceilings, err, diff)
		}
	}
	write("tools/docs/form.txt", "m nonsense 1\n")
	if _, err := Form(ws); err == nil {
		t.Error("an unknown rule was accepted")
	}
}
