// Command suite runs the project's tests. `make test` calls `suite test`,
// `make real` `suite real` and `make fuzz` `suite fuzz TIME`; each ends with one
// line that counts what passed, failed and was skipped, and exits 1 unless all
// is well.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/foretime/foretime/tools/suite"
	"github.com/foretime/foretime/tools/workspace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (bool, error) {
	ws, err := workspace.Find(".")
	if err != nil {
		return false, err
	}
	start := time.Now()
	var r *suite.Result
	switch {
	case len(args) == 1 && args[0] == "test":
		r, err = test(ctx, ws)
	case len(args) == 1 && args[0] == "real":
		r, err = real(ctx, ws)
	case len(args) == 2 && args[0] == "fuzz":
		r, err = fuzz(ctx, ws, args[1])
	default:
		return false, errors.New("usage: suite test | suite real | suite fuzz TIME")
	}
	if err != nil {
		return false, err
	}
	fmt.Printf("\n%.0f s\n", time.Since(start).Seconds())
	if _, err := r.WriteTo(os.Stdout); err != nil {
		return false, err
	}
	return r.OK(), record(ws, args[0], r, time.Since(start))
}

// test runs everything under the race detector, then, without it, the
// packages that keep their longer tests (network training) for that, then
// builds each module as its own user would, outside the workspace.
func test(ctx context.Context, ws *workspace.Workspace) (*suite.Result, error) {
	// checkptr, part of -race, would end the process at gomlx's pointer
	// arithmetic; it stays on for all other code.
	r, err := suite.Run(ctx, ws.Root, append(lasting(), "-race", "-gcflags=github.com/gomlx/compute/...=-d=checkptr=0", "work"), os.Stdout)
	if err != nil {
		return nil, err
	}
	full, err := suite.Folders(ws, "//go:build !race")
	if err != nil {
		return nil, err
	}
	if len(full) > 0 {
		fmt.Println("\nin full, without the race detector:")
		more, err := suite.Run(ctx, ws.Root, append(lasting(), full...), os.Stdout)
		if err != nil {
			return nil, err
		}
		r.Add(more)
	}
	fmt.Println("\neach module alone:")
	for _, m := range ws.Modules {
		r.Add(alone(ctx, m))
	}
	return r, nil
}

// lasting returns flags for tests on a machine that may have other work: much
// time for each package; and no vet, which each module gets alone.
func lasting() []string { return []string{"-timeout=2h", "-vet=off"} }

// alone builds and vets one module with GOWORK=off; each counts as one test.
func alone(ctx context.Context, m workspace.Module) *suite.Result {
	r := &suite.Result{}
	for _, verb := range []string{"build", "vet"} {
		cmd := exec.CommandContext(ctx, "go", verb, "./...")
		cmd.Dir = m.Dir
		cmd.Env = append(os.Environ(), "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Printf("fail GOWORK=off go %s %s\n", verb, m.Name)
			r.Failures = append(r.Failures, suite.Failure{Package: m.Path, Test: "GOWORK=off go " + verb, Output: string(out) + err.Error() + "\n"})
			continue
		}
		fmt.Printf("pass GOWORK=off go %s %s\n", verb, m.Name)
		r.Passed++
	}
	return r
}

// real installs the real components that the modules name and runs the tests
// that drive them; there a skipped test is a failure.
func real(ctx context.Context, ws *workspace.Workspace) (*suite.Result, error) {
	if err := install(ctx, ws); err != nil {
		return nil, err
	}
	folders, err := suite.Folders(ws, "func TestReal")
	if err != nil {
		return nil, err
	}
	if len(folders) == 0 {
		return nil, errors.New("no package has a TestReal test")
	}
	r, err := suite.Run(ctx, ws.Root, append([]string{"-count=1", "-p=1", "-timeout=2h", "-run=^TestReal"}, folders...), os.Stdout)
	if err != nil {
		return nil, err
	}
	r.FailSkips()
	return r, nil
}

// fuzz runs every fuzz target for a time, such as 1m, one after another.
func fuzz(ctx context.Context, ws *workspace.Workspace, each string) (*suite.Result, error) {
	targets, err := suite.Targets(ws)
	if err != nil {
		return nil, err
	}
	all := &suite.Result{}
	for _, t := range targets {
		fmt.Println(t.Name)
		r, err := suite.Run(ctx, ws.Root, []string{"-run=^$", "-fuzz=^" + t.Name + "$", "-fuzztime=" + each, t.Folder}, os.Stdout)
		if err != nil {
			return nil, err
		}
		all.Add(r)
	}
	return all, nil
}

// record keeps the count in out/ for `make readme`.
func record(ws *workspace.Workspace, name string, r *suite.Result, took time.Duration) error {
	dir := filepath.Join(ws.Root, "out", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(map[string]any{
		"summary": r.Summary(), "passed": r.Passed, "failed": len(r.Failures),
		"skipped": len(r.Skips), "seconds": took.Round(time.Second).Seconds(),
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "results.json"), append(data, '\n'), 0o644)
}
