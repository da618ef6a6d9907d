package docs

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/workspace"
)

// refused maps phrases that readers stumble over to better ones. A space in a
// phrase also matches a line break.
var refused = []struct{ phrase, instead string }{
	{`besides?`, "next to, compared with, or together with"},
	{`(?:held|holds?) (?:\S+ ){0,4}against`, "compared with, or checked against"},
	{`(?:is|are|be) told`, "a verb of what the program does: prints, returns, is given"},
	{`tells? of`, "a verb of what the program does: prints, returns, reports"},
	{`(?:stands?|stood) (?:in|for)`, "is in, or replaces"},
	{`anew`, "again"},
	{`in vain`, "unused, or without success"},
	{`mends?`, "fix"},
	{`so that`, "so, or to"},
	{`refuses? to`, "does not, or returns an error"},
	{`comes to`, "is, or gives"},
	{`(?:is|are) (?:what|how|where) [a-z]+`, "a noun for a type, a verb for a function"},
	{`(?:is|are) of (?:tests|the|a|one|those|its|their)`, "belongs to, or repeat the noun"},
	{`folders?`, "directory"},
}

var phrases, shortNumber = func() (compiled []*regexp.Regexp, _ *regexp.Regexp) {
	for _, r := range refused {
		compiled = append(compiled, regexp.MustCompile(`(?i)\b`+strings.ReplaceAll(r.phrase, " ", `(?:[ \t]+|[ \t]*\n[ \t]*)`)+`\b`))
	}
	return compiled, regexp.MustCompile(`(?:^|[\s(\[,])(\.\d+)`)
}()

// Prose returns one line, "file:line: what to write instead", for each refused
// phrase in the Markdown and the comments of the root, shared, tools and .github, in
// every doc.go, and in the comments and strings of every MODULE/internal/cli without
// its tests. Code in Markdown and in comments is not checked.
func Prose(ws *workspace.Workspace) ([]string, error) {
	var findings []string
	err := filepath.WalkDir(ws.Root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"out", "testdata", ".git"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(ws.Root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		top, _, below := strings.Cut(name, "/")
		common := !below || slices.Contains([]string{"shared", "tools", ".github"}, top)
		command := strings.Contains(name, "/internal/cli/") && !strings.HasSuffix(name, "_test.go")
		var prose func([]byte, bool) []string
		switch {
		case path.Ext(name) == ".md" && common:
			prose = markdown
		case path.Ext(name) == ".go" && (common || command || path.Base(name) == "doc.go"):
			prose = source
		default:
			return nil
		}
		text, err := os.ReadFile(file)
		findings = append(findings, stumbles(name, prose(text, command))...)
		return err
	})
	return findings, err
}

// stumbles returns the findings in the prose of a file, given line by line.
func stumbles(name string, lines []string) (findings []string) {
	text := strings.Join(lines, "\n")
	add := func(at []int, instead string) {
		line := 1 + strings.Count(text[:at[0]], "\n")
		found := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
		findings = append(findings, fmt.Sprintf("%s:%d: %q: write %s", name, line, found, instead))
	}
	for i, phrase := range phrases {
		for _, at := range phrase.FindAllStringIndex(text, -1) {
			add(at, refused[i].instead)
		}
	}
	for _, at := range shortNumber.FindAllStringSubmatchIndex(text, -1) {
		add(at[2:], "0.95 or 95 %, with the leading zero")
	}
	return findings
}

// inlineCode matches inline code and the targets of links.
var inlineCode = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)")

// markdown returns the lines of a document without code.
func markdown(text []byte, _ bool) []string {
	lines := strings.Split(string(text), "\n")
	block := false
	for i, line := range lines {
		switch fence := strings.HasPrefix(strings.TrimSpace(line), "```"); {
		case fence:
			block, lines[i] = !block, ""
		case block:
			lines[i] = ""
		default:
			lines[i] = inlineCode.ReplaceAllString(line, "``")
		}
	}
	return lines
}

// source returns the comments of a Go file at their lines, and its strings if asked.
func source(text []byte, literals bool) []string {
	lines := make([]string, 1+strings.Count(string(text), "\n"))
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, kind, literal := s.Scan()
		switch {
		case kind == token.EOF:
			return lines
		case kind == token.COMMENT && !strings.HasPrefix(literal, "//go:") && !strings.HasPrefix(literal, "//\t"):
			literal = inlineCode.ReplaceAllString(strings.TrimPrefix(literal, "//"), "``")
		case kind == token.STRING && literals:
		default:
			continue
		}
		for i, line := range strings.Split(literal, "\n") {
			lines[file.Line(pos)-1+i] += line
		}
	}
}

// TestProse checks which texts are read, and that each phrase is found once, also
// across a line break, and not in code.
func TestProse(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"README.md":                "It stands in\nfor it.\n\n```\nbeside\n```\n\nSee `beside` and [this](a/beside.md): 0.5 of .5.\n",
		".github/a.md":             "Told so that it works.\n",
		"m/README.md":              "beside\n",
		"out/m/internal/cli/c.go":  "package cli // beside\n",
		"shared/a.go":              "package a\n\n// A is what comes, so\n// that it holds\n// all of it against\n// the rest.\n//\n//\tbeside\nvar a = \"beside\" // anew\n",
		"shared/a_test.go":         "package a\n\n// The test refuses to mend it.\n",
		"m/p/doc.go":               "// Package p is told of a folder, in vain.\npackage p\n",
		"m/p/p.go":                 "package p\n\n// beside\n",
		"m/internal/cli/c.go":      "package cli\n\nvar help = `lists\nthe folders`\n\n// It comes to (.95).\n",
		"m/internal/cli/c_test.go": "package cli\n\n// beside\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Prose(&workspace.Workspace{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`.github/a.md:1: "so that": write so, or to`,
		`README.md:1: "stands in": write is in, or replaces`,
		`README.md:8: ".5": write 0.95 or 95 %, with the leading zero`,
		`m/internal/cli/c.go:6: "comes to": write is, or gives`,
		`m/internal/cli/c.go:4: "folders": write directory`,
		`m/internal/cli/c.go:6: ".95": write 0.95 or 95 %, with the leading zero`,
		`m/p/doc.go:1: "is told": write a verb of what the program does: prints, returns, is given`,
		`m/p/doc.go:1: "in vain": write unused, or without success`,
		`m/p/doc.go:1: "folder": write directory`,
		`shared/a.go:4: "holds all of it against": write compared with, or checked against`,
		`shared/a.go:9: "anew": write again`,
		`shared/a.go:3: "so that": write so, or to`,
		`shared/a.go:3: "is what comes": write a noun for a type, a verb for a function`,
		`shared/a_test.go:3: "mend": write fix`,
		`shared/a_test.go:3: "refuses to": write does not, or returns an error`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
