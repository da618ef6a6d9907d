package cli

import (
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/internal/job"
	"github.com/foretime/foretime/chamtool/internal/simulate"
	"github.com/foretime/foretime/shared/cli"
)

// newSimulateCommand returns simulate, which predicts the makespan of a recorded job.
func newSimulateCommand(env *cli.Env) *cobra.Command {
	var p simulate.Parameters
	var out cli.Output
	c := &cobra.Command{
		Use:     "simulate LOGDIR",
		Short:   "Predict the makespan of a recorded job with and without moving tasks",
		Example: "  chamtool simulate logs",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, f := range []struct {
				name  string
				value float64
			}{{"migration-cost", p.MigrationCost}, {"migration-delay", p.MigrationDelay}, {"interval", p.Interval}} {
				if !(f.value >= 0 && f.value <= 1e6) {
					return cli.Usagef("--%s %v: want seconds from 0 to 1e6", f.name, f.value)
				}
			}
			j, err := job.Load(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			cli.Warn(env, j.Reasons)
			forecasts, err := simulate.ForecastMakespans(cmd.Context(), j, p)
			if err != nil {
				return err
			}
			return out.Print(env, forecasts, func(p *cli.Page) {
				t := p.Table("policy", "makespan s", "low", "high", "migrations", "")
				for _, f := range forecasts {
					note := ""
					if f.Recorded {
						note = "as recorded"
					}
					t.Add(f.Policy, f.Makespan.Value, f.Makespan.Low, f.Makespan.High, f.Moves, note)
				}
			})
		},
	}
	f := c.Flags()
	f.Float64Var(&p.MigrationCost, "migration-cost", 0.0001, "seconds of the sender's communication thread per sent task")
	f.Float64Var(&p.MigrationDelay, "migration-delay", 0.0005, "seconds until a sent task arrives")
	f.Float64Var(&p.Interval, "interval", 0, "seconds between exchanges of loads (0: the runtime's 2 ms, or a hundredth of the mean load if that is less)")
	out.Flags(c)
	return c
}
