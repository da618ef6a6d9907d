// Command suite runs the project's tests. `make test` calls `suite test`,
// `make real` `suite real` and `make fuzz` `suite fuzz TIME`; each ends with one
// line that counts what passed, failed and was skipped, and exits 1 unless all
// is well. `suite install` only installs what the tests drive.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/tools/suite"
	"github.com/foretime/foretime/tools/workspace"
)

func main() { cli.Main(newRoot) }

// part runs some of the tests and counts them.
type part func(context.Context, *workspace.Workspace) (*suite.Result, error)

func newRoot(env *cli.Env) *cobra.Command {
	root := &cobra.Command{Use: "suite", Short: "run the project's tests"}
	add := func(use, short string, args cobra.PositionalArgs, choose func(args []string) part) {
		root.AddCommand(&cobra.Command{Use: use, Short: short, Args: args, RunE: func(c *cobra.Command, args []string) error {
			return run(c.Context(), env, c.Name(), choose(args))
		}})
	}
	add("test", "every test, then each module alone", nil, func([]string) part { return test })
	add("real", "install the real components and run the tests that drive them", nil, func([]string) part { return real })
	root.AddCommand(&cobra.Command{Use: "install [FILE...]", Short: "install the real components, and those that more such files name", Args: cobra.ArbitraryArgs, RunE: func(c *cobra.Command, files []string) error {
		ws, err := workspace.Find(".")
		if err != nil {
			return err
		}
		return install(c.Context(), ws, files...)
	}})
	add("fuzz TIME", "every fuzz target for a time such as 1m", cobra.ExactArgs(1), func(args []string) part { return fuzz(args[0]) })
	return root
}

func run(ctx context.Context, env *cli.Env, name string, tests part) error {
	ws, err := workspace.Find(".")
	if err != nil {
		return err
	}
	start := time.Now()
	r, err := tests(ctx, ws)
	if err != nil {
		return err
	}
	took := time.Since(start)
	fmt.Fprintf(env.Stdout, "\n%.0f s\n", took.Seconds())
	if _, err := r.WriteTo(env.Stdout); err != nil {
		return err
	}
	if err := record(ws, name, r, took); err != nil {
		return err
	}
	if !r.OK() {
		return errors.New("not all is well: " + r.Summary())
	}
	return nil
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
func fuzz(each string) part {
	return func(ctx context.Context, ws *workspace.Workspace) (*suite.Result, error) {
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
}

// record keeps the count in out/ for `make readme`.
func record(ws *workspace.Workspace, name string, r *suite.Result, took time.Duration) error {
	dir := filepath.Join(ws.Root, "out", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return file.WriteJSON(filepath.Join(dir, "results.json"), map[string]any{
		"summary": r.Summary(), "passed": r.Passed, "failed": len(r.Failures),
		"skipped": len(r.Skips), "seconds": took.Round(time.Second).Seconds(),
	})
}
