package docs

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		stored = append(append(stored, numbersOf(r.Figures)...), numbersOf(r.Other)...)
	}
	for _, n := range numbers {
		if !slices.ContainsFunc(stored, func(v float64) bool { return roundsTo(v, n) }) {
			wrong = append(wrong, fmt.Sprintf("%s is not in %s", n, strings.Join(p.results, ", ")))
		}
	}
	return len(numbers), wrong
}

func TestFigures(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"m/docs/results/a.json": `{"command": "m", "machine": "Z80", "commit": "c", "date": "d", "count": "1", "stored": "by the command",
			"figures": {"error": 0.1234, "seconds": [5.31, 1200], "of": "7.49 h", "late by 0.99": 1}}`,
		"m/docs/results/bare.json": `{"figures": {"error": 0.5}}`,
		"m/README.md": "Missed by 12.3 % in 1,200 s ([result](docs/results/a.json)),\nwhich goes on with 5.3.\n\n" + // all stored
			"A level of `95 %` for version `1.2`.\n\n```\n9.9 s\n```\n\n" + // nothing measured
			"Took 3 ms, or 0.77.\n\n" +
			"Stored ([result](docs/results/a.json)):\n\n| what | h |\n|---|---|\n| a | 5.31 |\n| b | .99 |\n\nAfter the table 5.31.\n",
		"m/docs/guide.md": "Half: 50 % ([result](results/bare.json)).\n\n7 h ([result](results/gone.json))\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	count, got, err := figures(root)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, "m", "docs", "results", name) }
	want := []string{
		"m/README.md:10: 3 0.77: no result is linked",
		"m/README.md:17: .99 is not in docs/results/a.json",
		"m/README.md:19: 5.31: no result is linked",
		"m/docs/guide.md:1: " + at("bare.json") + ": a stored result has command, machine, commit, date, count, stored and figures",
		"m/docs/guide.md:1: 50 is not in results/bare.json",
		"m/docs/guide.md:3: open " + at("gone.json") + ": no such file or directory",
		"m/docs/guide.md:3: 7 is not in results/gone.json",
	}
	if diff := cmp.Diff(want, got); diff != "" || count != 10 {
		t.Errorf("%d figures, want 10; findings (-want +got):\n%s", count, diff)
	}
}

var number = regexp.MustCompile(`\d+(?:\.\d+)?(?:[eE][+-]?\d+)?`)

// numbersIn returns all numbers of a text, without sign.
func numbersIn(text string) []float64 {
	var values []float64
	for _, n := range number.FindAllString(text, -1) {
		if v, err := strconv.ParseFloat(n, 64); err == nil { // else too large for a figure
			values = append(values, v)
		}
	}
	return values
}

// key matches the name of a JSON value.
var key = regexp.MustCompile(`"(?:[^"\\]|\\.)*"\s*:`)

// numbersOf returns the numbers of JSON values, without sign; names have none.
func numbersOf(figures json.RawMessage) []float64 {
	return numbersIn(key.ReplaceAllString(string(figures), " "))
}

// roundsTo reports whether a value, or its percentage, rounds to the shown number,
// without sign.
func roundsTo(value float64, shown string) bool {
	shown = strings.ReplaceAll(shown, ",", "")
	_, decimals, _ := strings.Cut(shown, ".")
	want, err := strconv.ParseFloat(shown, 64)
	half := 0.5000001 * math.Pow(10, -float64(len(decimals)))
	v := math.Abs(value)
	return err == nil && (math.Abs(v-want) <= half || math.Abs(100*v-want) <= half)
}
