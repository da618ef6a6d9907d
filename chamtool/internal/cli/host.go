package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/host"
	"github.com/foretime/foretime/shared/cli"
)

func newHostCommand(env *cli.Env) *cobra.Command {
	var tool string
	var ranks int
	var cost bool
	c := &cobra.Command{
		Use:     "host [--tool libchamtool.so] [-- OPTION...]",
		Short:   "Build and run a program of the runtime's shape, with a tool or without",
		Example: "  chamtool host --tool libchamtool.so --ranks 2 -- --threads 2 --tasks 200",
		Long: `Build and run a program of the runtime's shape, with a tool or without. It is C,
compiled on the spot with gcc (with mpicc for ranks), and prints one JSON object
a rank: what it did, to be held against what the tool counted.

Options of the program, after --:
  --threads N --tasks N --iterations N   workers, tasks an iteration, iterations
  --shape work|flood                     a task program, or callbacks as fast as can be
  --work matrix|spin|none --sizes A,B,.. what a task does: orders of matrices, or microseconds
  --args N --buffers N --literal-every N arguments: those behind the first N are literals, so is every N-th
  --nest N --skew X --seed N             nested tasks, more tasks on rank 0
  --dialect upstream|patched --mode 1|2|3 --train N`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := os.MkdirTemp("", "chamtool-host-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			if tool != "" {
				path, err := filepath.Abs(tool)
				if err != nil {
					return err
				}
				if _, err := os.Stat(path); err != nil {
					return err
				}
				tool = path
			}
			p, err := host.Build(cmd.Context(), dir, host.Options{MPI: ranks > 0})
			if err != nil {
				return err
			}
			r := host.Run{Tool: tool, Ranks: ranks, Args: args}
			if cost {
				costs, err := p.Costs(cmd.Context(), r)
				if err != nil {
					return err
				}
				return env.WriteJSON(costs)
			}
			stdout, stderr, err := p.Output(cmd.Context(), r)
			fmt.Fprint(env.Stderr, stderr)
			fmt.Fprint(env.Stdout, stdout)
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&tool, "tool", "", "tool library to load")
	f.IntVar(&ranks, "ranks", 0, "run this many ranks under mpirun, of Open MPI, MPICH or Intel MPI")
	f.BoolVar(&cost, "cost", false, "measure what the tool's callbacks cost, with a rival beside them")
	return c
}
