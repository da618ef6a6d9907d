package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/foretime/foretime/tools/workspace"
)

// Figures returns one line, "file:line: what is wrong", for each measured figure in
// a README.md, or in a document of a directory docs, that no stored result
// contains.
//
// A figure is a number with a unit or a decimal point, outside code: format a
// setting, which is not measured, as code. The figure's paragraph, its row, or the
// paragraph before its table links to the results.
func Figures(ws *workspace.Workspace) ([]string, error) {
	_, findings, err := figures(ws.Root)
	return findings, err
}

// figures also counts the figures.
func figures(root string) (count int, findings []string, err error) {
	var files []string
	for _, pattern := range []string{"README.md", "*/README.md", "*/docs/*.md"} {
		more, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return 0, nil, err
		}
		files = append(files, more...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, nil, err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return 0, nil, err
		}
		for _, p := range passages(string(text)) {
			n, wrong := p.judge(filepath.Dir(file))
			count += n
			for _, w := range wrong {
				findings = append(findings, fmt.Sprintf("%s:%d: %s", filepath.ToSlash(rel), p.line, w))
			}
		}
	}
	return count, findings, nil
}

// passage is a paragraph or the row of a table, with the results that it, or the
// paragraph before its table, links to.
type passage struct {
	line    int
	text    string
	results []string
}

var (
	link = regexp.MustCompile(`\]\(([^)]*)\)`)
	code = regexp.MustCompile("(?s)``.*?``|`[^`]*`|<!--.*?-->")
)

// passages cuts a document up; blocks of code are left out.
func passages(text string) []passage {
	var all []passage
	var before []string // results of the paragraph above
	fenced, fresh := false, true
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			fenced, fresh = !fenced, true
			continue
		}
		row := strings.HasPrefix(trimmed, "|")
		switch {
		case fenced:
		case trimmed == "":
			fresh = true
		case row:
			all = append(all, passage{i + 1, line, append(linked(line), before...)})
			fresh = true
		case fresh || strings.HasPrefix(trimmed, "#"):
			all = append(all, passage{i + 1, line, linked(line)})
			before = linked(line)
			fresh = strings.HasPrefix(trimmed, "#")
		default:
			p := &all[len(all)-1]
			p.text += "\n" + line
			p.results = linked(p.text)
			before = p.results
		}
	}
	return all
}

// linked returns the results that a text links to.
func linked(text string) []string {
	var files []string
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if strings.HasSuffix(m[1], ".json") && strings.Contains(m[1], "results/") {
			files = append(files, m[1])
		}
	}
	return files
}

var figure = regexp.MustCompile(`(^-?|[^\w.-]-?)(\.\d+|\d[\d,]*(?:\.\d+)?)( ?(?:%|ms|µs|us|ns|s|min|h|kB|MB|GB|KiB|MiB|GiB|times)(?:$|[^\w]))?`)

// figuresIn returns the figures of a text as written.
func figuresIn(text string) []string {
	text = code.ReplaceAllString(link.ReplaceAllString(text, "]"), " ")
	var numbers []string
	for _, m := range figure.FindAllStringSubmatch(text, -1) {
		if m[3] != "" || strings.Contains(m[2], ".") {
			numbers = append(numbers, m[2])
		}
	}
	return numbers
}

// judge counts the passage's figures and returns those that are in none of its
// results.
func (p passage) judge(dir string) (count int, wrong []string) {
	numbers := figuresIn(p.text)
	if len(numbers) == 0 {
		return 0, nil
	}
	if len(p.results) == 0 {
		return len(numbers), []string{strings.Join(numbers, " ") + ": no result is linked"}
	}
	var stored []float64
	for _, name := range p.results {
		r, err := ReadResult(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		stored = append(append(stored, numbersIn(string(r.Figures))...), numbersIn(string(r.Other))...)
	}
	for _, n := range numbers {
		if !slices.ContainsFunc(stored, func(v float64) bool { return roundsTo(v, n) }) {
			wrong = append(wrong, fmt.Sprintf("%s is not in %s", n, strings.Join(p.results, ", ")))
		}
	}
	return len(numbers), wrong
}
