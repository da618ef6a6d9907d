package release_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// The builder's own parser reads every Dockerfile, and has nothing to warn of.
func TestDockerfiles(t *testing.T) {
	paths, err := filepath.Glob("images/*.Dockerfile")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range append(paths, "../../edgeprof/Dockerfile") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.Parse(bytes.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, w := range file.Warnings {
			t.Errorf("%s: %s", path, w.Short)
		}
		lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, at []parser.Range) {
			t.Errorf("%s: %v: %s: %s", path, at, rule, message)
		}})
		if _, _, err := instructions.Parse(file.AST, lint); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
