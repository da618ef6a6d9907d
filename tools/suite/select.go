package suite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/foretime/foretime/tools/workspace"
)

// Folders returns, as ./patterns from the root, the packages with a test file
// that contains the text.
func Folders(ws *workspace.Workspace, text string) ([]string, error) {
	var folders []string
	err := eachTest(ws, func(folder string, file []byte) {
		if bytes.Contains(file, []byte(text)) {
			folders = append(folders, folder)
		}
	})
	slices.Sort(folders)
	return slices.Compact(folders), err
}

// eachTest calls visit with each test file's folder and text.
func eachTest(ws *workspace.Workspace, visit func(folder string, text []byte)) error {
	files, err := ws.GoFiles()
	if err != nil {
		return err
	}
	for _, path := range files {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(ws.Root, filepath.Dir(path))
		if err != nil {
			return err
		}
		visit("./"+filepath.ToSlash(rel), text)
	}
	return nil
}

// Target is a fuzz function in a folder, a ./pattern from the root.
type Target struct{ Folder, Name string }

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// Targets returns every fuzz function of the workspace.
func Targets(ws *workspace.Workspace) ([]Target, error) {
	var targets []Target
	err := eachTest(ws, func(folder string, text []byte) {
		for _, m := range fuzzFunc.FindAllSubmatch(text, -1) {
			targets = append(targets, Target{folder, string(m[1])})
		}
	})
	return targets, err
}

// Need is a real component that some test drives.
type Need struct {
	Kind string // "apt", "npm" or "pip"
	Name string // package, for npm with @VERSION, for pip with ==VERSION
}

// Needs reads the real.txt of each module that has one, and more such files: a need
// a line, "apt NAME", "npm NAME@VERSION" or "pip NAME==VERSION"; # starts a comment.
// Each need comes once, in order.
func Needs(ws *workspace.Workspace, more ...string) ([]Need, error) {
	var files []string
	for _, m := range ws.Modules {
		if path := filepath.Join(m.Dir, "real.txt"); exists(path) {
			files = append(files, path)
		}
	}
	var needs []Need
	seen := map[Need]bool{}
	for _, path := range append(files, more...) {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(data), "\n") {
			line, _, _ = strings.Cut(line, "#")
			n, ok := need(line)
			if !ok {
				return nil, fmt.Errorf("%s:%d: want \"apt NAME\", \"npm NAME@VERSION\" or \"pip NAME==VERSION\", found %q", path, i+1, strings.TrimSpace(line))
			}
			if n != (Need{}) && !seen[n] {
				seen[n] = true
				needs = append(needs, n)
			}
		}
	}
	return needs, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// versions is what stands between a package's name and its version.
var versions = map[string]string{"apt": "", "npm": "@", "pip": "=="}

// need reads one line; an empty one is no need.
func need(line string) (Need, bool) {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return Need{}, true
	}
	if len(fields) != 2 {
		return Need{}, false
	}
	mark, known := versions[fields[0]]
	at := strings.LastIndex(fields[1], mark) // the last, for npm's @SCOPE/NAME@VERSION
	return Need{fields[0], fields[1]}, known && at > 0 && (mark == "" || at+len(mark) < len(fields[1]))
}
