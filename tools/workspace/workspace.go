package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"golang.org/x/mod/modfile"
)

// ErrNoWorkspace is returned when no directory from the start upwards contains a
// go.work.
var ErrNoWorkspace = errors.New("no go.work found")

// Module is one module of the workspace.
type Module struct {
	Name string // directory name, such as "deft"
	Path string // module path
	Dir  string // absolute directory
}

// Workspace is the project's root and its modules in name order.
type Workspace struct {
	Root    string // absolute directory of go.work
	Modules []Module
}

// Find returns the workspace that contains dir.
func Find(dir string) (*Workspace, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for root := start; ; root = filepath.Dir(root) {
		data, err := os.ReadFile(filepath.Join(root, "go.work"))
		if err == nil {
			return read(root, data)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if root == filepath.Dir(root) {
			return nil, fmt.Errorf("%w: from %s upwards", ErrNoWorkspace, start)
		}
	}
}

func read(root string, data []byte) (*Workspace, error) {
	work, err := modfile.ParseWork(filepath.Join(root, "go.work"), data, nil)
	if err != nil {
		return nil, err
	}
	ws := &Workspace{Root: root}
	for _, use := range work.Use {
		m := Module{Name: filepath.Base(use.Path), Dir: filepath.Join(root, filepath.FromSlash(use.Path))}
		mod, err := os.ReadFile(filepath.Join(m.Dir, "go.mod"))
		if err != nil {
			return nil, err
		}
		m.Path = modfile.ModulePath(mod)
		ws.Modules = append(ws.Modules, m)
	}
	sort.Slice(ws.Modules, func(i, j int) bool { return ws.Modules[i].Name < ws.Modules[j].Name })
	return ws, nil
}
