package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/report"
	"github.com/foretime/foretime/allox-est/internal/sampling"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// newRunCommand returns "run": the estimate of a job from samples.
func newRunCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	s := samplings{env: env, record: record}
	cmd := &cobra.Command{
		Use:   "run JOB.yaml | run --epochs N -- COMMAND ... {epochs} ...",
		Short: "Sample a job and estimate how long it takes",
		Long: `Run a few percent of a job on each device and estimate the time of all of it. Samples
are real runs: they replace output files that the job writes, unless the command writes to
{scratch}, a directory of each sample; --keep runs the job once, whole, instead.`,
		Example: `  allox-est run --epochs 500 -- python3 train.py --epochs {epochs}
  allox-est run --keep -- python3 train.py
  allox-est run lenet.yaml --device cpu,gpu`,
		Args: jobArgs,
		RunE: s.run,
	}
	s.register(cmd)
	cmd.Flags().BoolVar(&s.keep, "keep", false, "use the job itself as the sample: start it once, whole, and print estimates while it runs")
	cli.First(cmd, "keep")
	return cmd
}

// newValidateCommand returns "validate": run, then a comparison with whole runs.
func newValidateCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	s := samplings{env: env, record: record}
	cmd := &cobra.Command{
		Use:     "validate JOB.yaml | validate --epochs N -- COMMAND ... {epochs} ...",
		Short:   "Sample a job, run it whole, and show the error of the estimate",
		Example: "  allox-est validate --runs 3 lenet.yaml",
		Args:    jobArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.full < 1 {
				return cli.Usagef("--runs %d: want at least 1", s.full)
			}
			return s.run(cmd, args)
		},
	}
	s.register(cmd)
	cmd.Flags().IntVar(&s.full, "runs", 1, "whole runs on each device")
	return cmd
}

// samplings holds the flags of "run" and "validate".
type samplings struct {
	env    *cli.Env
	job    jobFlags
	sample sampleFlags
	answer cli.Output
	full   int // whole runs
	keep   bool
	record *cli.Record // of the user's own predictions, which correct the next ones
}

func (s *samplings) register(cmd *cobra.Command) {
	s.job.register(cmd)
	s.job.registerMethod(cmd)
	s.sample.register(cmd.Flags())
	s.answer.Flags(cmd, report.Report{})
	s.answer.PlotFlag(cmd, "the time of each epoch on the first device")
	cli.First(cmd, "epochs", "device", "journal", "budget")
}

// run makes the missing samples and the whole runs, and prints the report.
func (s *samplings) run(cmd *cobra.Command, args []string) error {
	if s.keep {
		if err := exclude(cmd, "keep", "budget", "fresh", "method", "csv"); err != nil {
			return err
		}
		return (&following{env: s.env, said: map[string]bool{}, job: s.job, answer: s.answer}).run(cmd, args)
	}
	spec, err := s.job.spec(s.env, cmd, args)
	if err != nil {
		return err
	}
	if err := s.sample.limit(spec); err != nil {
		return err
	}
	if s.job.devices, err = availableDevices(s.env, s.job.devices); err != nil {
		return err
	}
	j, err := journal.Open(s.job.journal)
	if err != nil {
		return err
	}
	defer j.Close()
	identity, err := s.sample.reuse(s.env, spec, j, s.job.devices)
	if err != nil {
		return err
	}
	sampler, done := newSampler(s.env, spec, j)
	defer done()
	sampler.Identity, sampler.Devices = identity, s.job.devices
	sampler.Pairs = s.job.method != "" && s.job.method != string(estimate.Auto)
	s.announce(sampler, j)
	if err := sampler.Sample(cmd.Context()); err != nil {
		return err
	}
	settings := s.job.settings()
	if s.full == 0 { // validate compares the samples alone with whole runs
		settings.Past = report.Past(spec, s.job.devices, j, identity)
	}
	r := report.New(spec, s.job.devices, j, settings)
	s.correct(r)
	if s.full > 0 {
		var estimated []string // a device without samples has no whole runs either
		for _, name := range s.job.devices {
			if r.Devices[name].Estimate != nil {
				estimated = append(estimated, name)
			}
		}
		before := len(j.Runs)
		if err := sampler.Full(cmd.Context(), estimated, s.full); err != nil {
			return err
		}
		r.Validate(j)
		s.recordOutcomes(r, j.Runs[before:])
	}
	done()
	return s.job.printReport(s.env, &s.answer, r, j)
}

// correct records each estimate under the key of the job's whole run, and corrects
// its interval by the outcomes of this user's earlier estimates.
func (s *samplings) correct(r *report.Report) {
	for _, name := range s.job.devices {
		if d := r.Devices[name]; d.Estimate != nil {
			d.Wall = s.record.Predict("wall", recordKey(r, d), d.Wall)
			d.CPU = s.record.Predict("cpu", recordKey(r, d), d.CPU)
		}
	}
}

// recordOutcomes records the time of the first new whole run on each device.
func (s *samplings) recordOutcomes(r *report.Report, runs []journal.Run) {
	done := map[string]bool{}
	for _, run := range runs {
		d := r.Devices[run.Device]
		if run.Kind != journal.Full || run.HasFailed() || d == nil || d.Estimate == nil || done[run.Device] {
			continue
		}
		done[run.Device] = true
		s.record.Outcome("wall", recordKey(r, d), run.Wall)
		s.record.Outcome("cpu", recordKey(r, d), run.CPU)
	}
}

func recordKey(r *report.Report, d *report.Device) string {
	return fmt.Sprintf("%s %d", d.SpecHash, r.Epochs)
}

// announce logs what the samples take: epochs before the first one starts, and seconds as
// soon as its first epochs show them.
func (s *samplings) announce(sampler *sampling.Sampler, j *journal.Journal) {
	spec := sampler.Spec
	unit := cmp.Or(spec.Unit, jobspec.Epoch)
	if runs, epochs := sampler.First(j); runs > 0 {
		s.env.Log.Infof("sampling begins with %s of %s in all (%.3g %% of the job's %d) and one set-up each; the seconds follow when two %[5]ss are done; --keep uses the job itself as the sample, at no extra cost",
			plural.Count(runs, "run"), plural.Count(epochs, unit), 100*float64(epochs)/float64(spec.Epochs), spec.Epochs, unit)
	}
	sampler.Costed = func(step sampling.Step, c sampling.Cost) {
		s.env.Log.Infof("%s: the sample takes about %s, %.0f %% of the job's %s", step.Device, duration(c.Sample), 100*c.Sample/c.Job, duration(c.Job))
		if c.Setup > setupShare*c.Job {
			s.env.Log.Warnf("%s: set-up is %.0f %% of the job: each sample pays it again; --keep uses the job itself as the sample", step.Device, 100*c.Setup/c.Job)
		}
		if budget := spec.Sample.Budget; s.sample.budget > 0 && c.Sample > budget*c.Job {
			s.env.Log.Warnf("%s: the sample takes more than --budget %v of the time: set-up leaves no shorter one; --keep needs none", step.Device, budget)
		}
	}
}

// setupShare is the share of set-up in a job from which on sampling costs too much.
const setupShare = 0.1
