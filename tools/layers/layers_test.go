package layers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/tools/workspace"
)

func TestWorkspaceKeepsTheRules(t *testing.T) {
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	files, err := Load(ws)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("only %d files read: the walk is broken", len(files))
	}
	for _, v := range Check(files) {
		t.Error(v)
	}
}

// TestReadmesShowTheFlow checks that each module's README, or its doc.go, shows the
// flow of the rules.
func TestReadmesShowTheFlow(t *testing.T) {
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	for module, flow := range Flow() {
		text, err := os.ReadFile(filepath.Join(ws.Root, module, "README.md"))
		if errors.Is(err, os.ErrNotExist) {
			text, err = os.ReadFile(filepath.Join(ws.Root, module, "doc.go"))
		}
		if err != nil {
			t.Error(err)
		} else if line := strings.Join(flow, " → "); !strings.Contains(string(text), line) {
			t.Errorf("the README of %s lacks the line\n%s", module, line)
		}
	}
}

// TestPlacesExist checks that each path in the rules exists.
func TestPlacesExist(t *testing.T) {
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	var places []string
	for place := range adapters() {
		places = append(places, place)
	}
	for module, flow := range Flow() {
		for _, folder := range flow {
			if _, err := os.Stat(filepath.Join(ws.Root, module, "internal", folder)); err != nil { // a public one
				places = append(places, module+"/"+folder)
			}
		}
	}
	for _, place := range places {
		if _, err := os.Stat(filepath.Join(ws.Root, place)); err != nil {
			t.Error(err)
		}
	}
}

// Each row is a file that breaks exactly one rule, or none.
func TestRules(t *testing.T) {
	const p = prefix
	tests := []struct {
		name, path, src string
		want            string // part of the rule's name; "" for none
	}{
		{"clean", "deft/internal/policy/x.go", `package policy; import _ "` + p + `shared/timing"`, ""},
		{"sibling", "deft/internal/policy/x.go", `package policy; import _ "` + p + `mirage/internal/trace"`, "a module imports itself"},
		{"sibling in a test", "shared/timing/x_test.go", `package timing; import _ "` + p + `deft/internal/policy"`, "a module imports itself"},
		{"tools import a tool", "tools/cmd/tour/x.go", `package main; import _ "` + p + `deft/internal/policy"`, "a module imports itself"},
		{"gomlx", "mirage/internal/model/x.go", `package model; import _ "github.com/gomlx/gomlx/ml"`, "gomlx only"},
		{"gomlx at home", "shared/regression/neural/x.go", `package neural; import _ "github.com/gomlx/gomlx/ml"`, ""},
		{"gomlx next door", "allox-est/internal/jobspec/x.go", `package jobspec; import _ "github.com/gomlx/gomlx/ml"`, "gomlx only"},
		{"cgo", "deft/internal/session/x.go", `package session; import "C"`, "cgo only"},
		{"cgo at home", "chamtool/cmd/libchamtool/x.go", `package main; import "C"`, ""},
		{"ort", "edgeprof/internal/runtime/x.go", `package runtime; import _ "github.com/yalue/onnxruntime_go"`, "native ONNX"},
		{"logrus", "deft/internal/policy/x.go", `package policy; import _ "github.com/sirupsen/logrus"`, "only commands"},
		{"logrus in cmd", "deft/cmd/deft/x.go", `package main; import _ "github.com/sirupsen/logrus"`, ""},
		{"flag in a test", "deft/internal/policy/x_test.go", `package policy; import _ "flag"`, ""},
		{"slog", "deft/internal/policy/x.go", `package policy; import _ "log/slog"`, "only commands"},
		{"exit", "deft/internal/policy/x.go", `package policy; import "os"; func f() { os.Exit(1) }`, "never exit"},
		{"renamed import", "deft/internal/policy/x.go", `package policy; import sys "os"; var home = sys.Getenv("HOME")`, "never exit"},
		{"a local called os", "deft/internal/policy/x.go", `package policy; type o struct{ Exit int }; func f(os o) int { return os.Exit }`, ""},
		{"environment in a test", "deft/internal/policy/x_test.go", `package policy; import "os"; var home = os.Getenv("HOME")`, ""},
		{"domain imports command", "deft/internal/policy/x.go", `package policy; import _ "` + p + `deft/internal/cli"`, "arrows go"},
		{"clock", "shared/regression/x.go", `package regression; import "time"; var now = time.Now`, "only adapters"},
		{"a program", "mirage/internal/trace/x.go", `package trace; import _ "os/exec"`, "only adapters"},
		{"clock of an adapter", "deft/internal/trial/real.go", `package trial; import "time"; func f() { time.Sleep(1) }`, ""},
		{"clock next to an adapter", "deft/internal/trial/x.go", `package trial; import "time"; func f() { time.Sleep(1) }`, "only adapters"},
		{"clock of a command", "deft/internal/cli/x.go", `package cli; import "time"; var now = time.Now`, ""},
		{"a length of time", "deft/internal/policy/x.go", `package policy; import "time"; var limit = time.Second`, ""},
		{"go", "allox-est/internal/cli/x.go", `package cli; func f() { go f() }`, "goroutines"},
		{"go in a test", "allox-est/internal/cli/x_test.go", `package cli; func f() { go f() }`, ""},
		{"wait group", "allox-est/internal/runner/x.go", `package runner; import "sync"; var g sync.WaitGroup`, "goroutines"},
		{"go at home", "shared/crash/x.go", `package crash; func f() { go f() }`, ""},
		{"with the flow", "shared/chart/x.go", `package chart; import _ "` + p + `shared/file"`, ""},
		{"against the flow", "shared/file/x.go", `package file; import _ "` + p + `shared/chart"`, "flow"},
		{"not in the flow", "shared/novelty/doc.go", `package novelty`, "flow"},
		{"comment in another file", "deft/internal/policy/x.go", "// Package policy decides.\npackage policy", "in doc.go"},
		{"no example", "deft/internal/cli/x.go", "package cli; var c = cobra.Command{Use: `x`, RunE: nil}", "shows an example"},
		{"an example", "deft/internal/cli/x.go", "package cli; var c = cobra.Command{Use: `x`, Example: `x`, RunE: nil}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), filepath.Base(tt.path))
			if err := os.WriteFile(file, []byte(tt.src), 0o644); err != nil {
				t.Fatal(err)
			}
			f, err := parse(file, tt.path)
			if err != nil {
				t.Fatal(err)
			}
			found := Check([]File{f})
			switch {
			case tt.want == "" && len(found) > 0:
				t.Errorf("unexpected: %v", found)
			case tt.want != "" && (len(found) != 1 || !strings.Contains(found[0].Rule.Name, tt.want)):
				t.Errorf("got %v, want one violation of %q", found, tt.want)
			}
		})
	}
}
