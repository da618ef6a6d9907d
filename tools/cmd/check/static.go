package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/foretime/foretime/tools/workspace"
)

// withCgo lists the two commands that need a C compiler.
var withCgo = []string{"./chamtool/cmd/libchamtool", "./edgeprof/cmd/edgeprof-ort"}

// static builds every other command without cgo, for both architectures.
func static(ws *workspace.Workspace) ([]string, error) {
	var findings []string
	for _, arch := range []string{"amd64", "arm64"} {
		env := []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + arch}
		mains, err := commands(ws)
		if err != nil {
			return nil, err
		}
		mains = slices.DeleteFunc(mains, func(dir string) bool { return slices.Contains(withCgo, dir) })
		out, err := command(ws.Root, env, "go", append([]string{"build", "-o", os.DevNull}, mains...)...)
		if err != nil {
			return findings, err
		}
		for _, line := range out {
			findings = append(findings, arch+": "+line)
		}
	}
	return findings, nil
}

// commands returns the directories of the workspace's commands, as ./patterns.
func commands(ws *workspace.Workspace) ([]string, error) {
	mains, err := filepath.Glob(filepath.Join(ws.Root, "*", "cmd", "*"))
	if err != nil {
		return nil, err
	}
	for i, dir := range mains {
		rel, err := filepath.Rel(ws.Root, dir)
		if err != nil {
			return nil, err
		}
		mains[i] = "./" + filepath.ToSlash(rel)
	}
	return mains, nil
}
