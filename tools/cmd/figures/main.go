// Command figures runs again the commands of the stored results that repeat, and
// tells which figures they no longer print. `make figures` runs it.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/tools/docs"
	"github.com/foretime/foretime/tools/workspace"
)

func main() { cli.Main(newRoot) }

func newRoot(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "figures [RESULT...]",
		Short: "run the commands of the stored results again and look for their figures",
		Example: `  figures
  figures allox-est/docs/results/steps-pai.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, files []string) error {
			ws, err := workspace.Find(".")
			if err != nil {
				return err
			}
			return run(c.Context(), env, ws.Root, files)
		},
	}
}

func run(ctx context.Context, env *cli.Env, root string, files []string) error {
	if len(files) == 0 {
		var err error
		if files, err = docs.Repeating(root); err != nil {
			return err
		}
	}
	failed := 0
	for _, file := range files {
		r, err := docs.Repeat(ctx, root, file, env.Stderr)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintln(env.Stdout, err)
		} else {
			fmt.Fprintf(env.Stdout, "%s: %v\n", file, r)
		}
		if err != nil || len(r.Missing) > 0 {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d results: %w", failed, len(files), errGone)
	}
	return nil
}

var errGone = errors.New("not every figure was found again")
