package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/deft/internal/trial"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/dataset"
)

// newRunCommand returns run, which runs an experiment.
func newRunCommand(env *cli.Env) *cobra.Command {
	var s setting
	var queue string
	c := &cobra.Command{
		Use:   "run -f FILE",
		Short: "Run an experiment: several models on one device under a policy",
		Long: `Run an experiment: several models on one device under a policy.

Policies:
` + policy.Policies.Help() + `
If neither --policy nor the file names one, the models with control in the file are under
priority and the others run freely.

The table shows inflation if deft alone was run before with the same --out.
`,
		Example: `  deft run -f input.json                                     with processes on a simulated device
  deft run -f input.json --clock virtual --policy priority   in a simulation, without waiting
  deft run -f input.json --device cuda --policy priority     on a GPU`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if queue != "" {
				if _, err := dataset.FormatOf(queue); err != nil {
					return cli.Usagef("--queue-log: %w", err)
				}
				if _, err := os.Stat(filepath.Dir(queue)); err != nil {
					return fmt.Errorf("--queue-log: %w", err)
				}
			}
			x, err := s.load(env)
			if err != nil {
				return err
			}
			o, err := s.play(cmd.Context(), env, x)
			if o == nil {
				return err
			}
			if s.clock != "real" && err == nil {
				err = addPredictions(cmd.Context(), x, o)
			}
			if queue != "" {
				err = errors.Join(err, o.SaveQueue(queue))
			}
			return errors.Join(err, s.show(env, o.Run, compareWithAlone(x, o.Run)))
		},
	}
	s.flags(c)
	s.policyFlag(c)
	c.Flags().StringVar(&queue, "queue-log", "", "write the launches in flight, one row per millisecond, to this CSV file")
	cli.OutputFile(c, "queue-log")
	cli.First(c, "file", "policy", "clock", "device", "out")
	return c
}

// addPredictions adds the predicted time of one job of each model on an unknown host.
func addPredictions(ctx context.Context, x *experiment.Experiment, o *trial.Outcome) error {
	jobs, err := trial.Predict(ctx, x)
	for i := range jobs {
		o.Run.Models[i].Job = &jobs[i]
	}
	return errors.Join(err, o.Save())
}

// compareWithAlone compares a run with the same models alone, if deft alone has written its
// results to the same directory with the same device and clock.
func compareWithAlone(x *experiment.Experiment, r *report.Run) *report.Run {
	alone, err := report.Load(aloneFile(x))
	if err != nil || alone.Device != r.Device || alone.Clock != r.Clock {
		return r
	}
	if c, err := r.Compare(alone); err == nil {
		return c
	}
	return r
}

// show prints a run, with the comparison in the table.
func (s *setting) show(env *cli.Env, r *report.Run, compared *report.Run) error {
	for _, w := range r.Warnings {
		s.warn(env, w)
	}
	return s.answer.Print(env, r, func(p *cli.Page) {
		showModels(p, compared)
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
	t := p.Table("model", "jobs", "mean ms", "p50", "p95", "p99", "jobs/s", "inflation", "launches", "syncs", "stall ms", "gate ms", "missed")
	for _, m := range c.Models {
		row := []any{m.Output, m.Jobs, m.JCT.Mean, m.JCT.P50, m.JCT.P95, m.JCT.P99, m.Throughput, m.Inflation}
		if m.Launches == 0 { // logs do not contain these
			t.Add(append(row, nil, nil, nil, nil, m.Missed)...)
			continue
		}
		t.Add(append(row, m.Launches, m.Syncs, m.StallMS, m.GateMS, m.Missed)...)
	}
}
