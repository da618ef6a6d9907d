//go:build develop

// Command rivals compares the tools with alternatives, alternating between the two,
// and writes out/rivals.json. `make rivals` installs the alternatives first and
// runs it.
package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/tools/rivals"
	"github.com/foretime/foretime/tools/workspace"
)

func main() {
	cli.Main(func(env *cli.Env) *cobra.Command {
		var merge string
		cmd := &cobra.Command{
			Use:   "rivals [NAME...]",
			Short: "compare the tools with alternatives; selected comparisons are only printed",
			Args:  cobra.ArbitraryArgs,
			RunE:  func(c *cobra.Command, names []string) error { return run(c.Context(), env, merge, names) },
		}
		cmd.Flags().StringVar(&merge, "merge", "", "write out/rivals.json from this earlier rivals.json and the selected comparisons")
		return cmd
	})
}

func run(ctx context.Context, env *cli.Env, merge string, names []string) error {
	ws, err := workspace.Find(".")
	if err != nil {
		return err
	}
	if merge != "" { // before the time is spent
		if _, err := rivals.Load(merge); err != nil {
			return err
		}
	}
	results, err := rivals.Run(ctx, ws.Root, env.Stderr, names...)
	if err != nil {
		return err
	}
	if merge != "" {
		old, err := rivals.Load(merge) // again: another run may have added rows
		if err != nil {
			return err
		}
		results = results.Merge(old, names...)
	}
	if len(names) == 0 || merge != "" {
		if err := results.Save(filepath.Join(ws.Root, "out", "rivals.json")); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(env.Stdout, results.Markdown("rivals.json"))
	return err
}
