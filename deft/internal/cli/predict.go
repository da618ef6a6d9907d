package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/trial"
	"github.com/foretime/foretime/shared/cli"
)

// newPredictCommand returns predict, which picks a synchronization interval from a sweep.
func newPredictCommand(env *cli.Env) *cobra.Command {
	var from string
	var candidates []int
	var answer cli.Output
	c := &cobra.Command{
		Use:     "predict --from SWEEP.json",
		Short:   "Fit the delay predictor to a sweep and pick the best interval",
		Example: `  deft predict --from sweep.json --sync 1,2,4,8,10,20,50,100`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("sync") && len(candidates) == 0 {
				return cli.Usagef("--sync: no interval given")
			}
			s, err := trial.LoadSweep(from)
			if err != nil {
				return err
			}
			p, err := s.Choose(candidates)
			if err != nil {
				return fmt.Errorf("%s: %w", from, err)
			}
			return answer.Print(env, p, func(page *cli.Page) { showChoice(page, p) })
		},
	}
	f := c.Flags()
	f.StringVar(&from, "from", "", "JSON file of deft sweep (required)")
	f.IntSliceVar(&candidates, "sync", nil, "intervals to choose from (default: those of the sweep)")
	answer.Flags(c)
	cli.Require(c, "from")
	return c
}

func showChoice(page *cli.Page, p *trial.Choice) {
	t := page.Table("sync", "execution ms", "preemption ms", "sum ms", "low", "high", "over alone ms", "measured over alone ms")
	for _, c := range p.Candidates {
		t.Add(c.Sync, c.ExecMS, c.PreemptMS, c.TotalMS, c.Told.Low, c.Told.High, c.OverMS, c.MeasuredOverMS)
	}
	best := fmt.Sprintf("best: %d launches; measured best: %d", p.Sync, p.MeasuredSync)
	if p.Regret != nil {
		best += fmt.Sprintf(", %.1f %% less delay", 100**p.Regret/(1+*p.Regret))
	}
	page.Line("%s; best of all intervals: %d", best, p.Any)
}
