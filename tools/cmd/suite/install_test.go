package main

import (
	"slices"
	"strings"
	"testing"
)

// What is installed, and where.
func TestLines(t *testing.T) {
	got := lines(map[string][]string{"apt": {"munge"}, "npm": {"left@1.0.0"}, "pip": {"wheel==0.45.1"}}, "/out/real")
	for _, want := range []string{
		"apt-get install -y --no-install-recommends munge",
		"npm install --ignore-scripts --no-audit --no-fund --prefix /out/real left@1.0.0",
		"python3 -m pip install --only-binary=:all: --no-deps --upgrade --target /out/real/pip/wheel==0.45.1 wheel==0.45.1",
	} {
		if !slices.ContainsFunc(got, func(line []string) bool { return strings.HasSuffix(strings.Join(line, " "), want) }) {
			t.Errorf("no line %q in %v", want, got)
		}
	}
	if none := lines(nil, "/out/real"); len(none) > 0 {
		t.Errorf("nothing is needed, but %v runs", none)
	}
}
