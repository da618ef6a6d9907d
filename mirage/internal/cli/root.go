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
  mirage provision --state-dir chain service.sh`,
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

// companions returns the files in a directory, which a command reads in its place.
func companions(path string) []string {
	entries, _ := os.ReadDir(path) // a file has none
	var all []string
	for _, e := range entries {
		all = append(all, filepath.Join(path, e.Name()))
	}
	return all
}
