package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
)

// New returns the root command of allox-est.
func New(env *cli.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "allox-est",
		Short: "Estimate how long a training job takes on CPU and GPU, from short runs of it",
		Example: `  allox-est run --epochs 500 -- python3 train.py --epochs {epochs}
  allox-est slurm --epochs 500 -- train.sbatch {epochs}`,
	}
	env.Companions = companions
	record := cli.NewRecord(env, root)
	root.AddCommand(
		newRunCommand(env, record),
		newEstimateCommand(env),
		newValidateCommand(env, record),
		newFollowCommand(env), newTrackCommand(env), newBacktestCommand(env),
		newSlurmCommand(env),
		newScheduleCommand(env),
		newParseCommand(env),
		newJobsCommand(env),
		newGuardCommand(env), newRelayCommand(env),
	)
	return root
}

// companions returns the default journal of a job file.
func companions(path string) []string {
	if ext := filepath.Ext(path); ext == ".yaml" || ext == ".yml" {
		return []string{strings.TrimSuffix(path, ext) + ".jsonl", strings.TrimSuffix(filepath.Base(path), ext) + ".jsonl"}
	}
	return nil
}
