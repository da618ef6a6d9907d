// Command rivals installs what else people use, measures the tools beside it, in
// turn, and writes out/rivals.json. `make rivals` runs it.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/tools/rivals"
	"github.com/foretime/foretime/tools/workspace"
)

func main() {
	cli.Main(func(env *cli.Env) *cobra.Command {
		return &cobra.Command{
			Use:   "rivals",
			Short: "measure the tools beside what else people use",
			Args:  cobra.NoArgs,
			RunE:  func(c *cobra.Command, _ []string) error { return run(c.Context(), env) },
		}
	})
}

func run(ctx context.Context, env *cli.Env) error {
	ws, err := workspace.Find(".")
	if err != nil {
		return err
	}
	b := &rivals.Bench{Root: ws.Root, Out: filepath.Join(ws.Root, "out", "rivals"), Log: env.Stderr}
	if err := os.MkdirAll(b.Out, 0o755); err != nil {
		return err
	}
	b.Install(ctx)
	results, err := rivals.Run(ctx, b)
	if err != nil {
		return err
	}
	if err := results.Save(filepath.Join(ws.Root, "out", "rivals.json")); err != nil {
		return err
	}
	_, err = fmt.Fprint(env.Stdout, results.Markdown("rivals.json"))
	return err
}
