package cli

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/deft/internal/trial"
	"github.com/foretime/foretime/shared/cli"
)

// newRunCommand returns run, which runs an experiment.
func newRunCommand(env *cli.Env) *cobra.Command {
	var s setting
	c := &cobra.Command{
		Use:   "run -f FILE",
		Short: "Run an experiment: several models on one device under a policy",
		Long: `Run an experiment: several models on one device under a policy.

Policies:
` + policy.Policies.Help() + `
If neither --policy nor the file names one, the models with control in the file are under
priority and the others run freely.

The table shows inflation if the models ran alone before (--alone) with the same --out-dir.
`,
		Example: `  deft run -f input.json                                     with processes on a simulated device
  deft run -f input.json --clock virtual --policy priority   in a simulation, without waiting
  deft run -f input.json --device cuda --policy priority     on a GPU
  deft run -f input.json --clock virtual --sync 4,16,64      to find the best interval`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			x, err := s.load(env)
			switch {
			case err != nil:
				return err
			case s.alone:
				return s.runAlone(cmd.Context(), env, x)
			case len(s.intervals) > 0:
				return s.runSweep(cmd.Context(), env, x)
			}
			return s.runTogether(cmd.Context(), env, x)
		},
	}
	s.flags(c)
	cli.First(c, "file", "policy", "clock", "device", "out-dir")
	return c
}

// runTogether runs the models at the same time.
func (s *setting) runTogether(ctx context.Context, env *cli.Env, x *experiment.Experiment) error {
	o, err := s.play(env)(ctx, x)
	if o == nil {
		return err
	}
	if s.clock != "real" && err == nil {
		err = addPredictions(ctx, x, o)
	}
	compareWithAlone(x, o.Run)
	return errors.Join(err, s.show(env, o.Run))
}

// runAlone runs each model by itself and stores the results for later runs.
func (s *setting) runAlone(ctx context.Context, env *cli.Env, x *experiment.Experiment) error {
	r, err := trial.Alone(ctx, x, s.play(env))
	if err != nil {
		return err
	}
	if err := r.Save(aloneFile(x)); err != nil {
		return err
	}
	return s.show(env, r)
}

// aloneFile returns the file with the results of the models alone.
func aloneFile(x *experiment.Experiment) string {
	return filepath.Join(x.Models[len(x.Models)-1].OutputDir, "alone.json")
}

// addPredictions adds the predicted time of one job of each model on an unknown host.
func addPredictions(ctx context.Context, x *experiment.Experiment, o *trial.Outcome) error {
	jobs, err := trial.Predict(ctx, x)
	for i := range jobs {
		o.Run.Models[i].Job = &jobs[i]
	}
	return errors.Join(err, o.Save())
}

// compareWithAlone compares a run with the same models alone, if their results are in the same
// directory, of the same device and clock.
func compareWithAlone(x *experiment.Experiment, r *report.Run) {
	alone, err := report.Load(aloneFile(x))
	if err == nil && alone.Device == r.Device && alone.Clock == r.Clock {
		r.CompareWith(alone)
	}
}

// show prints a run.
func (s *setting) show(env *cli.Env, r *report.Run) error {
	for _, w := range r.Warnings {
		s.warn(env, w)
	}
	return s.answer.Print(env, r, func(p *cli.Page) {
		showModels(p, r)
		p.Line("policy %s, device %s, %s clock, %.1f s", r.Policy, r.Device, r.Clock, r.Seconds)
		for _, m := range r.Models {
			if m.Job != nil {
				p.Line("one job of %s in real time: %v", m.Output, cli.Quantity{Prediction: *m.Job, Unit: "ms"})
			}
		}
	})
}

// showModels prints one row per model.
func showModels(p *cli.Page, c *report.Run) {
	t := p.Table("model", "jobs", "mean (ms)", "p50 (ms)", "p95 (ms)", "p99 (ms)", "jobs/s", "inflation", "launches", "syncs", "stall (ms)", "gate (ms)", "missed")
	for _, m := range c.Models {
		row := []any{m.Output, m.Jobs, m.JCT.Mean, m.JCT.P50, m.JCT.P95, m.JCT.P99, m.Throughput, m.Inflation}
		t.Add(append(row, m.Launches, m.Syncs, m.StallMS, m.GateMS, m.Missed)...)
	}
}
