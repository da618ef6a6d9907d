package main

import (
	"slices"

	"github.com/foretime/foretime/tools/workspace"
)

// before returns what of the tree differs from its commit; nothing outside a
// git checkout.
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

// added returns what of the tree differs now and did not before: go.work.sum,
// say, after a build that needed a sum it lacks.
func added(ws *workspace.Workspace, tree []string) ([]string, error) {
	return slices.DeleteFunc(before(ws), func(line string) bool { return slices.Contains(tree, line) }), nil
}
