package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	goTest   = regexp.MustCompile(`\bgo test ([^\n` + "`" + `]+)`)
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Example|Fuzz)\w*)\(`)
)

// untestable says why a go test of a Markdown file, typed at one of the roots,
// would find nothing to run: its package is not there, or no test or benchmark in
// it has the name. It is "" where nothing is wrong.
func untestable(roots []string, arguments string) string {
	words := strings.Fields(strings.ReplaceAll(arguments, `\|`, "|"))
	asked := map[string]string{}
	var pkg string
	for i, word := range words {
		switch {
		case (word == "-run" || word == "-bench") && i+1 < len(words):
			asked[word], _, _ = strings.Cut(strings.Trim(words[i+1], `'"`), "/")
		case strings.HasPrefix(word, "./") && pkg == "":
			pkg = word
		}
	}
	if asked["-bench"] != "" {
		delete(asked, "-run") // only there to run no test
	}
	if pkg == "" || strings.Contains(pkg, "...") {
		return ""
	}
	names, err := testsOf(roots, pkg)
	if err != nil {
		return fmt.Sprintf("tests %s, which is not there", pkg)
	}
	for flag, pattern := range asked {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return fmt.Sprintf("%s %s: %v", flag, pattern, err)
		}
		prefix := map[string]string{"-run": "", "-bench": "Benchmark"}[flag]
		found := false
		for _, name := range names {
			found = found || strings.HasPrefix(name, prefix) && re.MatchString(name)
		}
		if !found {
			return fmt.Sprintf("%s %s: nothing in %s has that name", flag, pattern, pkg)
		}
	}
	return ""
}

// testsOf are the tests, benchmarks, examples and fuzz targets of a package below
// the first of the roots that has it.
func testsOf(roots []string, pkg string) ([]string, error) {
	var names []string
	for _, root := range roots {
		dir := filepath.Join(root, filepath.FromSlash(pkg))
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, m := range testFunc.FindAllSubmatch(text, -1) {
				names = append(names, string(m[1]))
			}
		}
		return names, nil
	}
	return nil, os.ErrNotExist
}

func TestUntestable(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "m", "p")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "package p\n\nfunc TestFast(t *testing.T) {}\n\nfunc BenchmarkRun(b *testing.B) {}\n\nfunc testing() {}\n"
	if err := os.WriteFile(filepath.Join(dir, "p_test.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	roots := []string{root, filepath.Join(root, "m")}
	for arguments, want := range map[string]string{
		"-run Fast -v ./m/p -jobs 3":    "",
		"-run 'TestFast$' ./p":          "",
		"-run TestFast/sub ./p":         "",
		`-run 'Slow\|Fast' ./p`:         "",
		"-run xxx -bench Run ./p":       "",
		"-run '^$' -bench . ./p":        "",
		"./m/...":                       "",
		"-run TestSlow ./m/p":           "-run TestSlow: nothing in ./m/p has that name",
		"-run testing ./p":              "-run testing: nothing in ./p has that name",
		"-run NONE -bench TestFast ./p": "-bench TestFast: nothing in ./p has that name",
		"-run Fast ./q":                 "tests ./q, which is not there",
		"-run 'Fast(' ./p":              "-run Fast(: error parsing regexp: missing closing ): `Fast(`",
	} {
		if got := untestable(roots, arguments); got != want {
			t.Errorf("go test %s: %q, want %q", arguments, got, want)
		}
	}
}
