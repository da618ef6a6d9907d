package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/trial"
	"github.com/foretime/foretime/shared/cli"
)

// newSweepCommand returns sweep, which measures an experiment under several intervals.
func newSweepCommand(env *cli.Env) *cobra.Command {
	var s setting
	var intervals []int
	c := &cobra.Command{
		Use:     "sweep -f FILE",
		Short:   "Measure an experiment under several synchronization intervals",
		Example: `  deft sweep -f input.json --clock virtual --sync 1,4,16,64,1000000 --json > sweep.json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for i, n := range intervals {
				if n < 1 {
					return cli.Usagef("--sync %d: want 1 launch or more", n)
				}
				if slices.Contains(intervals[:i], n) {
					return cli.Usagef("--sync %d: given twice", n)
				}
			}
			x, err := s.load(env)
			if err != nil {
				return err
			}
			if x.Policy == "" {
				x.Policy = "priority"
			}
			if x.Policy == "none" {
				return cli.Usagef("policy none: it adds no synchronization points, so intervals have no effect")
			}
			result, err := trial.RunSweep(cmd.Context(), x, intervals, withProgress(env, s.player(env), len(x.Models)+len(intervals)))
			if err != nil {
				return err
			}
			return s.answer.Print(env, result, func(p *cli.Page) { showSweep(p, result) })
		},
	}
	s.flags(c)
	s.policyFlag(c)
	c.Flags().IntSliceVar(&intervals, "sync", trial.Intervals(), "synchronization intervals in launches, for the models below the highest priority")
	cli.First(c, "file", "sync", "clock", "out", "json")
	return c
}

// withProgress returns play with a progress bar.
func withProgress(env *cli.Env, play trial.Play, runs int) trial.Play {
	bar := env.Progress("sweep", int64(runs))
	return func(ctx context.Context, x *experiment.Experiment) (*trial.Outcome, error) {
		o, err := play(ctx, x)
		bar.Add(1)
		return o, err
	}
}

func showSweep(p *cli.Page, s *trial.Sweep) {
	header, alone := []string{"sync"}, []any{"alone"}
	for _, m := range s.Alone {
		header, alone = append(header, m.Output+" ms"), append(alone, m.JCT.Mean)
	}
	t := p.Table(append(header, "delay ms")...)
	t.Add(append(alone, nil)...)
	for _, point := range s.Points {
		row := []any{point.Sync}
		for _, m := range point.Models {
			row = append(row, m.JCT.Mean)
		}
		t.Add(append(row, point.DelayMS)...)
	}
	if s.Sync == 0 {
		p.Line("the intervals had no effect: no model waited at a synchronization point under policy %s", s.Policy)
		return
	}
	p.Line("least delay: %d launches", s.Sync)
}
