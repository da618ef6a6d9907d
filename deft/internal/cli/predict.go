package cli

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/trial"
	"github.com/foretime/foretime/shared/cli"
)

// newPredictCommand picks a synchronization interval from a sweep.
func newPredictCommand(env *cli.Env) *cobra.Command {
	var from string
	var candidates []int
	var asJSON bool
	c := &cobra.Command{
		Use:     "predict --from SWEEP.json",
		Short:   "fit the delay predictor to a sweep and pick the best interval",
		Example: `  deft predict --from sweep.json --sync 1,2,4,8,10,20,50,100`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("sync") && len(candidates) == 0 {
				return cli.Usagef("--sync: no interval")
			}
			s, err := trial.LoadSweep(from)
			if err != nil {
				return err
			}
			p, err := s.Choose(candidates)
			if err != nil {
				return fmt.Errorf("%s: %w", from, err)
			}
			if asJSON {
				return env.WriteJSON(p)
			}
			return printPrediction(env, p)
		},
	}
	f := c.Flags()
	f.StringVar(&from, "from", "", "a sweep, JSON (required)")
	f.IntSliceVar(&candidates, "sync", nil, "intervals to choose from (default: those of the sweep)")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	cli.Require(c, "from")
	return c
}

// bound prints an end of an interval, a dash where it is open.
func bound(v float64) string {
	if math.IsInf(v, 0) {
		return "-"
	}
	return ms(v)
}

func printPrediction(env *cli.Env, p *trial.Choice) error {
	t := cli.Table{Header: []string{"sync", "execution ms", "preemption ms", "sum ms", "low", "high", "over alone ms", "measured over alone ms"}}
	for _, c := range p.Candidates {
		measured := ""
		if c.MeasuredOverMS != nil {
			measured = ms(*c.MeasuredOverMS)
		}
		t.Add(c.Sync, ms(c.ExecMS), ms(c.PreemptMS), ms(c.TotalMS), bound(c.Delay.Delay.Low), bound(c.Delay.Delay.High), ms(c.OverMS), measured)
	}
	if _, err := t.WriteTo(env.Stdout); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(env.Stdout, "\nbest: %d launches; measured best: %d", p.Sync, p.MeasuredSync); err != nil {
		return err
	}
	if p.Regret != nil {
		_, err := fmt.Fprintf(env.Stdout, ", %.1f %% less delay\n", 100**p.Regret/(1+*p.Regret))
		return err
	}
	_, err := fmt.Fprintln(env.Stdout)
	return err
}
