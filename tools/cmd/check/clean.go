package main

import (
	"slices"

	"github.com/foretime/foretime/tools/workspace"
)

// before returns the uncommitted changes of the tree; none outside a git checkout.
func before(ws *workspace.Workspace) []string {
	var differences []string
	for _, args := range [][]string{{"status", "--porcelain"}, {"diff", "HEAD", "--numstat"}} {
		out, err := command(ws.Root, nil, "git", args...)
		if err != nil {
			return nil
		}
		differences = append(differences, out...)
	}
	return differences
}

// added returns the changes of the tree since before, such as go.work.sum after a
// build that needed a missing sum.
func added(ws *workspace.Workspace, tree []string) ([]string, error) {
	return slices.DeleteFunc(before(ws), func(line string) bool { return slices.Contains(tree, line) }), nil
}
