package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWithCalls checks that functions exported to C are called from Go, with a zero
// for each parameter.
func TestWithCalls(t *testing.T) {
	file := filepath.Join(t.TempDir(), "export.go")
	source := "package main\n\n//export tool_add\nfunc tool_add(p *C.struct_x, a, b C.int) (ok C.int) { return own() }\n\n// own is ours.\nfunc own() C.int { return 1 }\n"
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := withCalls(file)
	if err != nil {
		t.Fatal(err)
	}
	want := source + "\nfunc init() {\ntool_add(*new(*C.struct_x), *new(C.int), *new(C.int))\n}\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestChoose(t *testing.T) {
	names := func(chosen []step) string {
		var all []string
		for _, s := range chosen {
			all = append(all, s.name)
		}
		return strings.Join(all, " ")
	}
	got, err := choose([]string{"dead", "gofmt"}, steps(nil))
	if err != nil || names(got) != "dead gofmt" {
		t.Errorf("by name: %s, %v", names(got), err)
	}
	if got, _ := choose(nil, steps(nil)); len(got) != len(steps(nil)) {
		t.Errorf("by default: %s", names(got))
	}
	if _, err := choose([]string{"nonesuch"}, steps(nil)); err == nil {
		t.Error("a check of no known name was taken")
	}
}
