package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
)

// New returns the command mirage.
func New(env *cli.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "mirage",
		Short: "When should a service on a batch queue submit its successor?",
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

// companions are the files that a command reads because it is given path: all of a
// directory, and the machines next to a log.
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
