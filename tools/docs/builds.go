package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/foretime/foretime/tools/workspace"
)

var build = regexp.MustCompile(`\bgo build\b[^\n` + "`" + `]*? -o (\S+) (?:[^\n` + "`" + `]*? )?(\./\S+?)(?:[\s` + "`" + `]|$)`)

// Builds returns one line, "file:line: what is wrong", for each go build of a
// Markdown file that cannot be typed at the root of the project: its package
// is not there, or its output is in the way of a folder.
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
		for i, line := range strings.Split(string(text), "\n") {
			for _, m := range build.FindAllStringSubmatch(line, -1) {
				if wrong := obstacle(ws.Root, m[1], m[2]); wrong != "" {
					rel, err := filepath.Rel(ws.Root, file)
					if err != nil {
						return err
					}
					findings = append(findings, fmt.Sprintf("%s:%d: %s", filepath.ToSlash(rel), i+1, wrong))
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
		return fmt.Sprintf("builds %s to %s, which is a folder", pkg, output)
	}
	return ""
}
