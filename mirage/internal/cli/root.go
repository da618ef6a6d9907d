package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
)

// New returns the root command of mirage.
func New(env *cli.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "mirage",
		Short: "Predict queue waits, and submit the successor of a service in time",
		Example: `  mirage when --job-gpus 2 --job-limit 4h
  mirage provision --state chain service.sh`,
	}
	env.Companions = companions
	record := cli.NewRecord(env, root)
	root.AddCommand(
		newLogCommand(env),
		newFitCommand(env),
		newWhenCommand(env, record),
		newServeCommand(env, record),
		newBacktestCommand(env),
		newSimulateCommand(env),
		newGenerateCommand(env),
		newTrainCommand(env),
		newValidateCommand(env),
		newProvisionCommand(env, record),
		newStatusCommand(env),
	)
	return root
}

// companions returns the files that a command reads in addition to path: those in a
// directory, and the .machines files next to a log.
func companions(path string) []string {
	pattern := filepath.Join(filepath.Dir(path), "*.machines")
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil
	case info.IsDir():
		pattern = filepath.Join(path, "*")
	}
	all, _ := filepath.Glob(pattern) // a directory that is a pattern has none
	return all
}
