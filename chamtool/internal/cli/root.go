package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
)

// New returns the command chamtool.
func New(env *cli.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "chamtool",
		Short: "Find where OpenMP and Chameleon programs lose time, predict their tasks and balance load",
		Long: `Find where an OpenMP program loses time: chamtool run -- ./program measures each of its
tasks and shows wall time, work and span, the largest losses and what may help. Programs of
clang and gcc run as they are. For MPI programs of the Chameleon library it also shows slow
ranks, predicts tasks and, if enabled, moves them between ranks.`,
		Example: `  chamtool run -- ./program
  chamtool report logs
  chamtool host --tool libchamtool.so -- --threads 2 --tasks 400 --iterations 20`,
	}
	env.Companions = companions
	c.AddCommand(newReplayCommand(env), newForecastCommand(env), newReportCommand(env), newDoctorCommand(env), newHostCommand(env),
		newRunCommand(env))
	return c
}

// companions returns the logs of a job in a directory.
func companions(path string) []string {
	if path == "" {
		return nil
	}
	all, _ := filepath.Glob(filepath.Join(path, "chamtool_*rank_*")) // a directory name with a pattern in it matches nothing
	return all
}
