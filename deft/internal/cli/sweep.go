package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/experiment"
	"github.com/foretime/foretime/deft/predictor"
	"github.com/foretime/foretime/deft/report"
	"github.com/foretime/foretime/deft/trial"
	"github.com/foretime/foretime/shared/cli"
)

// newSweepCommand measures an experiment under several intervals.
func newSweepCommand(env *cli.Env) *cobra.Command {
	var s setting
	var intervals []int
	var save string
	c := &cobra.Command{
		Use:     "sweep -f FILE",
		Short:   "measure an experiment under several synchronization intervals",
		Example: `  deft sweep -f input.json --clock virtual --sync 1,4,16,64,1000000 --json > sweep.json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, n := range intervals {
				if n < 1 {
					return cli.Usagef("--sync: %d, want launches of 1 or more", n)
				}
			}
			x, err := s.load(env)
			if err != nil {
				return err
			}
			if x.Policy == "" {
				x.Policy = "priority"
			}
			result, err := trial.RunSweep(cmd.Context(), x, intervals, counted(env, s.player(env), len(x.Models)+len(intervals)))
			if err != nil {
				return err
			}
			if save != "" {
				if err := result.Save(save); err != nil {
					return err
				}
			}
			if s.json {
				return env.WriteJSON(result)
			}
			return printSweep(env, result)
		},
	}
	s.flags(c, true)
	c.Flags().IntSliceVar(&intervals, "sync", predictor.Candidates(), "intervals, in launches, for the models below the highest priority")
	c.Flags().StringVar(&save, "save", "", "write the sweep as JSON to this file too")
	return c
}

// counted is play under a progress bar.
func counted(env *cli.Env, play trial.Play, runs int) trial.Play {
	bar := env.Progress("sweep", int64(runs))
	return func(ctx context.Context, x *experiment.Experiment) (*report.Run, error) {
		r, err := play(ctx, x)
		bar.Add(1)
		return r, err
	}
}

func printSweep(env *cli.Env, s *trial.Sweep) error {
	t := cli.Table{Header: []string{"sync"}}
	row := []any{"alone"}
	for _, m := range s.Alone {
		t.Header = append(t.Header, m.Output+" ms")
		row = append(row, ms(m.JCT.Mean))
	}
	t.Header = append(t.Header, "delay ms")
	t.Add(append(row, "")...)
	for _, p := range s.Points {
		row := []any{fmt.Sprint(p.Sync)}
		for _, m := range p.Models {
			row = append(row, ms(m.JCT.Mean))
		}
		t.Add(append(row, ms(p.DelayMS))...)
	}
	_, err := t.WriteTo(env.Stdout)
	return err
}
