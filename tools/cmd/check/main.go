// Command check runs the static checks of the project, or only those named as
// arguments. It prints the time of each and exits 1 if one fails. `make check` runs
// it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/foretime/foretime/tools/docs"
	"github.com/foretime/foretime/tools/layers"
	"github.com/foretime/foretime/tools/workspace"
)

// step is one check; it returns one finding per line.
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
	chosen, err := choose(os.Args[1:], steps(before(ws)))
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	failed := 0
	for _, s := range chosen {
		if !s.passes(ws) {
			failed++
		}
	}
	if failed > 0 {
		fmt.Fprintf(os.Stderr, "check: %d of %d checks failed\n", failed, len(chosen))
		os.Exit(1)
	}
}

// steps returns the checks in order; tree holds the uncommitted changes before the
// first.
func steps(tree []string) []step {
	return []step{
		{"gofmt", gofmt},
		{"layers", layering},
		{"docs", comments},
		{"builds", docs.Builds},
		{"figures", docs.Figures},
		{"prose", docs.Prose},
		{"tidy", tidy},
		{"versions", versions},
		{"vet", vet},
		{"alone", alone},
		{"pinned", pinned},
		{"imports", imports},
		{"staticcheck", staticcheck},
		{"actionlint", actionlint},
		{"static", static},
		{"dead", dead},
		{"clean", func(ws *workspace.Workspace) ([]string, error) { return added(ws, tree) }},
	}
}

// choose returns the steps of the given names, or all if none is given.
func choose(names []string, all []step) ([]step, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []step
	for _, name := range names {
		i := slices.IndexFunc(all, func(s step) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no check is called %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// passes runs the step, prints its result and each finding, and reports success.
func (s step) passes(ws *workspace.Workspace) bool {
	start := time.Now()
	findings, err := s.run(ws)
	if err != nil {
		findings = append(findings, err.Error())
	}
	verdict := "ok"
	if len(findings) > 0 {
		verdict = "FAILED"
	}
	fmt.Printf("%-14s %-7s %6.1f s\n", s.name, verdict, time.Since(start).Seconds())
	for _, f := range findings {
		fmt.Println("   ", f)
	}
	return len(findings) == 0
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

// comments checks that packages and exported names have comments, and that no name is
// that of a builtin, by the rules in tools/revive.toml.
func comments(ws *workspace.Workspace) ([]string, error) {
	args := []string{"tool", "revive", "-config", "../revive.toml", "-set_exit_status"}
	for _, m := range ws.Modules {
		args = append(args, "../../"+m.Name+"/...")
	}
	findings, err := command(filepath.Join(ws.Root, "tools", "pinned"), []string{"GOWORK=off"}, "go", args...)
	for i, f := range findings {
		findings[i] = strings.TrimPrefix(f, "../../")
	}
	return findings, err
}

func tidy(ws *workspace.Workspace) ([]string, error) {
	return eachModule(ws, []string{"GOWORK=off"}, "go", "mod", "tidy", "-diff")
}

// versions checks that each module built alone has the dependency versions of the
// workspace, in which it is built and tested. To fix a difference, run `go work
// sync` and `go mod tidy`.
func versions(ws *workspace.Workspace) ([]string, error) {
	list := []string{"list", "-deps", "-f", "{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}{{end}}{{end}}", "./..."}
	var findings []string
	for _, m := range ws.Modules {
		together, err := command(m.Dir, nil, "go", list...)
		if err != nil {
			return nil, err
		}
		alone, err := command(m.Dir, []string{"GOWORK=off"}, "go", list...)
		if err != nil {
			return nil, err
		}
		slices.Sort(alone)
		for _, line := range slices.Compact(alone) {
			if !slices.Contains(together, line) && !strings.HasPrefix(line, ours) {
				findings = append(findings, m.Name+": alone it builds with "+line)
			}
		}
	}
	return findings, nil
}

func vet(ws *workspace.Workspace) ([]string, error) {
	return command(ws.Root, nil, "go", "vet", "work")
}

// alone builds and vets each module, tests included, without the workspace.
func alone(ws *workspace.Workspace) ([]string, error) {
	env := []string{"GOWORK=off"}
	built, err := eachModule(ws, env, "go", "build", "./...")
	if err != nil {
		return built, err
	}
	vetted, err := eachModule(ws, env, "go", "vet", "./...")
	return append(built, vetted...), err
}

// pinned builds the external tools at the versions in tools/pinned.
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
