package main

import (
	"path/filepath"

	"github.com/foretime/foretime/tools/workspace"
)

func gofmt(ws *workspace.Workspace) ([]string, error) {
	files, err := ws.GoFiles()
	if err != nil {
		return nil, err
	}
	return command(ws.Root, nil, "gofmt", append([]string{"-l"}, files...)...)
}

// imports checks that imports are grouped: standard library, third parties, ours.
func imports(ws *workspace.Workspace) ([]string, error) {
	files, err := ws.GoFiles()
	if err != nil {
		return nil, err
	}
	groups := []string{"list", "-s", "standard", "-s", "default", "-s", "prefix(github.com/foretime/foretime)"}
	return command(ws.Root, nil, filepath.Join(ws.Root, "out", "bin", "gci"), append(groups, files...)...)
}
