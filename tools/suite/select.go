package suite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/foretime/foretime/tools/workspace"
)

// Folders returns, as ./patterns from the root, the packages with a test file
// that contains the text.
func Folders(ws *workspace.Workspace, text string) ([]string, error) {
	files, err := ws.GoFiles()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, path := range files {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(data, []byte(text)) {
			rel, err := filepath.Rel(ws.Root, filepath.Dir(path))
			if err != nil {
				return nil, err
			}
			seen["./"+filepath.ToSlash(rel)] = true
		}
	}
	folders := make([]string, 0, len(seen))
	for folder := range seen {
		folders = append(folders, folder)
	}
	sort.Strings(folders)
	return folders, nil
}

// Need is a real component that some test drives.
type Need struct {
	Kind string // "apt" or "npm"
	Name string // package, for npm with @version
}

// Needs reads the real.txt of each module: a need a line, "apt NAME" or
// "npm NAME@VERSION"; # starts a comment. Each need comes once, in order.
func Needs(ws *workspace.Workspace) ([]Need, error) {
	var needs []Need
	seen := map[Need]bool{}
	for _, m := range ws.Modules {
		path := filepath.Join(m.Dir, "real.txt")
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(data), "\n") {
			line, _, _ = strings.Cut(line, "#")
			fields := strings.Fields(line)
			if len(fields) == 0 {
				continue
			}
			if len(fields) != 2 || fields[0] != "apt" && fields[0] != "npm" {
				return nil, fmt.Errorf("%s:%d: want \"apt NAME\" or \"npm NAME@VERSION\", found %q", path, i+1, strings.TrimSpace(line))
			}
			if n := (Need{fields[0], fields[1]}); !seen[n] {
				seen[n] = true
				needs = append(needs, n)
			}
		}
	}
	return needs, nil
}
