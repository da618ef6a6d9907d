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
		Short: "Measure and predict the run times of OpenMP and Chameleon tasks, and balance load with them",
		Example: `  chamtool run -- ./program
  chamtool host --tool libchamtool.so -- --threads 2 --tasks 400 --iterations 20
  chamtool report logs`,
	}
	env.Companions = companions
	c.AddCommand(newReplayCommand(env), newReportCommand(env), newSimulateCommand(env),
		newDoctorCommand(env), newHostCommand(env), newRunCommand(env))
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
