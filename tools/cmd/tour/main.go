//go:build develop

// Command tour builds the tools, runs them end to end on small real inputs and
// shows the results: one table on stdout, out/tour/results.json, and
// out/tour/index.html with the plots. `make tour` runs it; arguments select
// modules.
package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/tools/tour"
	"github.com/foretime/foretime/tools/workspace"
)

func main() {
	cli.Main(func(env *cli.Env) *cobra.Command {
		return &cobra.Command{
			Use:   "tour [MODULE...]",
			Short: "run the tools end to end on small real inputs",
			Args:  cobra.ArbitraryArgs,
			RunE:  func(c *cobra.Command, modules []string) error { return run(c.Context(), env, modules) },
		}
	})
}

func run(ctx context.Context, env *cli.Env, modules []string) error {
	ws, err := workspace.Find(".")
	if err != nil {
		return err
	}
	out := filepath.Join(ws.Root, "out", "tour")
	if err := os.RemoveAll(out); err != nil { // no results of an earlier tour
		return err
	}
	stage := &tour.Stage{Root: ws.Root, Bin: filepath.Join(ws.Root, "out", "bin"), Out: out, Log: env.Stderr}
	results, err := tour.Run(ctx, stage, modules...)
	if err != nil {
		return err
	}
	if err := results.Save(out); err != nil {
		return err
	}
	return results.WriteStory(env.Stdout)
}
