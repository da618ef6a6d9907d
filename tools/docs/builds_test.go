package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/workspace"
)

var goBuild = regexp.MustCompile(`\bgo build\b[^\n` + "`" + `]*? -o (\S+) (?:[^\n` + "`" + `]*? )?(\./\S+?)(?:[\s` + "`" + `]|$)`)

// Builds returns one line, "file:line: what is wrong", for each go build of a
// Markdown file that does not work at the root of the project (its package is
// not there, or a directory has the name of its output), and for each go test, there
// or in the file's module, that would run nothing. Commands in a guide, a
// file of a directory docs, are checked by the test that runs the guide.
func Builds(ws *workspace.Workspace) ([]string, error) {
	var findings []string
	err := filepath.WalkDir(ws.Root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "out" || strings.HasPrefix(d.Name(), ".") && file != ws.Root):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".md":
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(ws.Root, file)
		if err != nil {
			return err
		}
		module, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		roots := []string{ws.Root, filepath.Join(ws.Root, module)}
		guide := filepath.Base(filepath.Dir(file)) == "docs"
		for i, line := range strings.Split(string(text), "\n") {
			if guide && strings.HasPrefix(line, "$ ") {
				continue
			}
			var wrong []string
			for _, m := range goBuild.FindAllStringSubmatch(line, -1) {
				wrong = append(wrong, obstacle(ws.Root, m[1], m[2]))
			}
			for _, m := range goTest.FindAllStringSubmatch(line, -1) {
				wrong = append(wrong, untestable(roots, m[1]))
			}
			for _, w := range wrong {
				if w != "" {
					findings = append(findings, fmt.Sprintf("%s:%d: %s", filepath.ToSlash(rel), i+1, w))
				}
			}
		}
		return nil
	})
	return findings, err
}

// obstacle says what keeps a package from being built to an output, "" where
// nothing does.
func obstacle(root, output, pkg string) string {
	folder := func(name string) bool {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil && info.IsDir()
	}
	if !folder(pkg) {
		return fmt.Sprintf("builds %s, which is not there", pkg)
	}
	if strings.HasSuffix(output, "/") || output == "." {
		output = path.Join(output, path.Base(pkg))
	}
	if !filepath.IsAbs(output) && folder(output) {
		return fmt.Sprintf("builds %s to %s, which is a directory", pkg, output)
	}
	return ""
}

func TestBuilds(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "m", "cmd", "m"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "$ go build -o . ./m/cmd/m\n" +
		"$ go build -o out/bin/ ./m/cmd/m\n" +
		"Type `go build -o m ./m/cmd/m`, or `go build -trimpath -o m.so ./m/cmd/m`.\n" +
		"$ go build -o x ./m/cmd/gone # a comment\n" +
		"$ go build -o /tmp/m ./m/cmd/m\n" +
		"$ go build ./m/...\n" +
		"Type `go test -run Gone ./cmd/m`.\n"
	for _, name := range []string{"m/README.md", "out/README.md", ".git/README.md", "m/docs/guide.md"} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Builds(&workspace.Workspace{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"m/README.md:1: builds ./m/cmd/m to m, which is a directory",
		"m/README.md:3: builds ./m/cmd/m to m, which is a directory",
		"m/README.md:4: builds ./m/cmd/gone, which is not there",
		"m/README.md:7: -run Gone: nothing in ./cmd/m has that name",
		"m/docs/guide.md:3: builds ./m/cmd/m to m, which is a directory",
		"m/docs/guide.md:7: -run Gone: nothing in ./cmd/m has that name",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
