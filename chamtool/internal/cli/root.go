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
		Short: "Task run times of Chameleon programs: measured, learned, and turned into balanced work",
		Example: `  chamtool host --tool libchamtool.so -- --threads 2 --tasks 400 --iterations 20
  chamtool report logs`,
	}
	env.Companions = companions
	c.AddCommand(newEvalCommand(env), newReplayCommand(env), newReportCommand(env), newSimulateCommand(env), newDisplayCommand(env), newPlotCommand(env),
		newDoctorCommand(env), newHostCommand(env))
	return c
}

// companions returns the files of a directory, which are a job's logs.
func companions(path string) []string {
	if path == "" {
		return nil
	}
	all, _ := filepath.Glob(filepath.Join(path, "chamtool_*rank_*")) // a directory that is a pattern has none
	return all
}
