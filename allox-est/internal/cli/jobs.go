package cli

import (
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/jobs"
	"github.com/foretime/foretime/shared/cli"
)

// newJobsCommand returns "jobs": jobs to try the estimator on.
func newJobsCommand(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "Run an example job",
	}
	cmd.AddCommand(newBurnerCommand(env))
	for _, name := range jobs.Names() {
		cmd.AddCommand(newTrainCommand(env, name))
	}
	return cmd
}

// hardware is what {hw} expands to.
type hardware struct {
	cpu, gpu        bool
	threads, number int
}

func (h *hardware) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&h.cpu, "cpu", false, "run on the CPU")
	cmd.Flags().IntVar(&h.threads, "numThreads", 1, "threads on the CPU")
	cmd.Flags().BoolVar(&h.gpu, "gpu", false, "run on the GPU")
	cmd.Flags().IntVar(&h.number, "numGPUs", 1, "GPUs")
	cmd.MarkFlagsMutuallyExclusive("cpu", "gpu")
}
