package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/host"
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/shared/cli"
)

// newHostCommand returns host, which builds and runs a program like those of the runtime.
func newHostCommand(env *cli.Env) *cobra.Command {
	var tool string
	var ranks int
	c := &cobra.Command{
		Use:     "host [--tool libchamtool.so] [-- OPTION...]",
		Short:   "Build and run a test program that calls a tool as the runtime does",
		Example: "  chamtool host --tool libchamtool.so --ranks 2 -- --threads 2 --tasks 200",
		Long: `Build and run a test program that calls a tool as the Chameleon runtime does, or
runs without one. It is written in C and compiled with gcc (mpicc for ranks). It
prints one JSON object per rank with its own counts, to compare with the tool's.

Options of the program, after --:
  --threads N --tasks N --iterations N   workers, tasks per iteration, iterations
  --shape work|flood                     tasks, or callbacks at full speed
  --work matrix|spin|none --sizes A,B,.. work of a task: orders of matrices, or microseconds
  --args N --buffers N --literal-every N arguments: those after the first N and every N-th are literals
  --nest N --skew X --seed N             nested tasks, more tasks on rank 0
  --dialect upstream|patched --mode 1|2|3 --train N`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := os.MkdirTemp("", "chamtool-host-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			older := false
			if tool == "" {
				tool = os.Getenv(event.LibrariesVariable)
			}
			if tool == "" {
				tool = os.Getenv(event.OlderLibraryVariable)
				older = tool != ""
			}
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
			r := host.Run{Tool: tool, Older: older, Ranks: ranks, Args: args}
			stdout, stderr, err := p.Output(cmd.Context(), r)
			fmt.Fprint(env.Stderr, stderr)
			fmt.Fprint(env.Stdout, stdout)
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&tool, "tool", "", "tool library to load (default: the one in "+event.LibrariesVariable+" or "+event.OlderLibraryVariable+", else none)")
	f.IntVar(&ranks, "ranks", 0, "number of ranks, started by mpirun of Open MPI, MPICH or Intel MPI (0: no MPI)")
	return c
}
