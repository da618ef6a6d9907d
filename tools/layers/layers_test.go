package layers

import (
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

// Each row is a file that breaks exactly one rule, or none.
func TestRules(t *testing.T) {
	const p = prefix
	tests := []struct {
		name, path, src string
		want            string // part of the rule's name; "" for none
	}{
		{"clean", "deft/policy/x.go", `package policy; import _ "` + p + `shared/timing"`, ""},
		{"sibling", "deft/policy/x.go", `package policy; import _ "` + p + `mirage/trace"`, "a module imports itself"},
		{"sibling in a test", "shared/timing/x_test.go", `package timing; import _ "` + p + `deft/policy"`, "a module imports itself"},
		{"tools import a tool", "tools/cmd/tour/x.go", `package main; import _ "` + p + `deft/policy"`, "a module imports itself"},
		{"gomlx", "mirage/model/x.go", `package model; import _ "github.com/gomlx/gomlx/ml"`, "gomlx only"},
		{"gomlx at home", "shared/regression/neural/x.go", `package neural; import _ "github.com/gomlx/gomlx/ml"`, ""},
		{"gomlx next door", "shared/regression/neuralnet/x.go", `package neuralnet; import _ "github.com/gomlx/gomlx/ml"`, "gomlx only"},
		{"cgo", "deft/session/x.go", `package session; import "C"`, "cgo only"},
		{"cgo at home", "chamtool/cmd/libchamtool/x.go", `package main; import "C"`, ""},
		{"ort", "edgeprof/runtime/x.go", `package runtime; import _ "github.com/yalue/onnxruntime_go"`, "native ONNX"},
		{"logrus", "deft/policy/x.go", `package policy; import _ "github.com/sirupsen/logrus"`, "commands alone"},
		{"logrus in cmd", "deft/cmd/deft/x.go", `package main; import _ "github.com/sirupsen/logrus"`, ""},
		{"flag in a test", "deft/policy/x_test.go", `package policy; import _ "flag"`, ""},
		{"slog", "deft/policy/x.go", `package policy; import _ "log/slog"`, "commands alone"},
		{"exit", "deft/policy/x.go", `package policy; import "os"; func f() { os.Exit(1) }`, "never exit"},
		{"renamed import", "deft/policy/x.go", `package policy; import sys "os"; var home = sys.Getenv("HOME")`, "never exit"},
		{"a local called os", "deft/policy/x.go", `package policy; type o struct{ Exit int }; func f(os o) int { return os.Exit }`, ""},
		{"environment in a test", "deft/policy/x_test.go", `package policy; import "os"; var home = os.Getenv("HOME")`, ""},
		{"domain imports command", "deft/policy/x.go", `package policy; import _ "` + p + `deft/internal/cli"`, "arrows go"},
		{"drawer", "deft/util/x.go", `package util`, "noun of the field"},
		{"yaml", "deft/policy/x.go", `package policy; import _ "gopkg.in/yaml.v3"`, "go.yaml.in"},
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
