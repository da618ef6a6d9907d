// Command check runs every static check of the project, each with its time,
// and exits 1 if one fails. `make check` runs it.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/foretime/foretime/tools/docs"
	"github.com/foretime/foretime/tools/layers"
	"github.com/foretime/foretime/tools/workspace"
)

// step is one check; it returns what is wrong, a finding a line.
type step struct {
	name string
	run  func(*workspace.Workspace) ([]string, error)
}

func main() {
	ws, err := workspace.Find(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
	steps := []step{
		{"gofmt", gofmt},
		{"layers", layering},
		{"docs", docs.Check},
		{"builds", docs.Builds},
		{"tidy", tidy},
		{"vet", vet},
		{"pinned", pinned},
		{"staticcheck", staticcheck},
		{"actionlint", actionlint},
		{"static builds", static},
	}
	failed := 0
	for _, s := range steps {
		start := time.Now()
		findings, err := s.run(ws)
		if err != nil {
			findings = append(findings, err.Error())
		}
		verdict := "ok"
		if len(findings) > 0 {
			failed++
			verdict = "FAILED"
		}
		fmt.Printf("%-14s %-7s %6.1f s\n", s.name, verdict, time.Since(start).Seconds())
		for _, f := range findings {
			fmt.Println("   ", f)
		}
	}
	if failed > 0 {
		fmt.Fprintf(os.Stderr, "check: %d of %d checks failed\n", failed, len(steps))
		os.Exit(1)
	}
}

func gofmt(ws *workspace.Workspace) ([]string, error) {
	files, err := ws.GoFiles()
	if err != nil {
		return nil, err
	}
	return command(ws.Root, nil, "gofmt", append([]string{"-l"}, files...)...)
}

func layering(ws *workspace.Workspace) ([]string, error) {
	files, err := layers.Load(ws)
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, v := range layers.Check(files) {
		findings = append(findings, v.String())
	}
	return findings, nil
}

func tidy(ws *workspace.Workspace) ([]string, error) {
	return eachModule(ws, []string{"GOWORK=off"}, "go", "mod", "tidy", "-diff")
}

func vet(ws *workspace.Workspace) ([]string, error) {
	return command(ws.Root, nil, "go", "vet", "work")
}

// pinned builds the outside tools at the versions that tools/pinned names.
func pinned(ws *workspace.Workspace) ([]string, error) {
	bin := filepath.Join(ws.Root, "out", "bin") + string(filepath.Separator)
	return command(filepath.Join(ws.Root, "tools", "pinned"), []string{"GOWORK=off"}, "go", "build", "-o", bin, "tool")
}

func staticcheck(ws *workspace.Workspace) ([]string, error) {
	return eachModule(ws, nil, filepath.Join(ws.Root, "out", "bin", "staticcheck"), "./...")
}

func actionlint(ws *workspace.Workspace) ([]string, error) {
	return command(ws.Root, nil, filepath.Join(ws.Root, "out", "bin", "actionlint"), "-shellcheck=", "-pyflakes=")
}

// withCgo are the two commands that need a C compiler to build.
var withCgo = []string{"chamtool/cmd/libchamtool", "edgeprof/cmd/edgeprof-ort"}

// static builds every other command without cgo, for both processors.
func static(ws *workspace.Workspace) ([]string, error) {
	var findings []string
	for _, arch := range []string{"amd64", "arm64"} {
		env := []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + arch}
		mains, err := filepath.Glob(filepath.Join(ws.Root, "*", "cmd", "*"))
		if err != nil {
			return nil, err
		}
		args := []string{"build", "-o", os.DevNull}
		for _, dir := range mains {
			rel, err := filepath.Rel(ws.Root, dir)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(withCgo, filepath.ToSlash(rel)) {
				args = append(args, "./"+rel)
			}
		}
		out, err := command(ws.Root, env, "go", args...)
		if err != nil {
			return findings, err
		}
		for _, line := range out {
			findings = append(findings, arch+": "+line)
		}
	}
	return findings, nil
}

func eachModule(ws *workspace.Workspace, env []string, name string, args ...string) ([]string, error) {
	var findings []string
	for _, m := range ws.Modules {
		out, err := command(m.Dir, env, name, args...)
		if err != nil {
			return findings, err
		}
		for _, line := range out {
			findings = append(findings, m.Name+": "+line)
		}
	}
	return findings, nil
}

// command runs a program in dir and returns what it printed as findings: all
// of it if it failed, and what it wrote to stdout if it did not.
func command(dir string, env []string, name string, args ...string) ([]string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	findings := lines(stdout.String())
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		findings = append(findings, lines(stderr.String())...)
		if len(findings) == 0 {
			findings = []string{fmt.Sprintf("%s: %v", name, err)}
		}
		return findings, nil
	}
	return findings, err
}

func lines(s string) []string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
