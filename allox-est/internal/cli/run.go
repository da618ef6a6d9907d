package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/allox-est/report"
	"github.com/foretime/foretime/shared/cli"
)

// newRunCommand returns "run": sample a job and report.
func newRunCommand(env *cli.Env) *cobra.Command {
	var job jobFlags
	var sample sampleFlags
	cmd := &cobra.Command{
		Use:   "run JOB.yaml | run --epochs N -- COMMAND ... {epochs} ...",
		Short: "Sample a job and estimate how long it takes",
		Args:  jobArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return sampled(cmd, args, env, &job, &sample, 0)
		},
	}
	job.register(cmd.Flags())
	sample.register(cmd.Flags())
	return cmd
}

// checkpoints is the folder beside a journal for those of its runs.
func checkpoints(journal string) (string, error) { return filepath.Abs(journal + ".checkpoints") }

// sampled makes the samples that are missing and the given number of whole
// runs, and prints the report.
func sampled(cmd *cobra.Command, args []string, env *cli.Env, job *jobFlags, sample *sampleFlags, full int) error {
	if err := sample.check(); err != nil {
		return err
	}
	spec, err := job.spec(cmd, args)
	if err != nil {
		return err
	}
	j, err := journal.Open(job.journal)
	if err != nil {
		return err
	}
	defer j.Close()
	remotes := sample.remotes(spec, job.devices)
	if sample.logs != "" && len(remotes) > 0 {
		env.Log.Warn("--logs: what runs print on other machines is not kept")
	}
	identity, err := sample.reuse(cmd.Context(), env, spec, j, job.devices, remotes)
	if err != nil {
		return err
	}
	if sample.checkpoints, err = checkpoints(job.journal); err != nil {
		return err
	}
	s, done := sample.sampler(env, spec, j, job.seed)
	s.Identity, s.Remotes = identity, remotes
	defer done()
	if err := s.Sample(cmd.Context(), job.devices); err != nil {
		return err
	}
	r := report.New(spec, job.devices, j, job.settings())
	if full > 0 {
		var estimated []string // a device without samples has no whole runs either
		for _, name := range job.devices {
			if r.Devices[name].Estimate != nil {
				estimated = append(estimated, name)
			}
		}
		if err := s.Full(cmd.Context(), estimated, full); err != nil {
			return err
		}
		r.Validate(j)
	}
	done()
	return job.print(env, r)
}
