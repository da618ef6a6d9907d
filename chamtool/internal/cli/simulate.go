package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/simulate"
	"github.com/foretime/foretime/shared/cli"
)

func newSimulateCommand(env *cli.Env) *cobra.Command {
	var p simulate.Parameters
	var policy string
	var asJSON bool
	c := &cobra.Command{
		Use:   "simulate",
		Short: "Play an iteration on many ranks under a balancing policy",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("imbalance") { // one rank has none
				p.Imbalance = max(0, min(p.Imbalance, float64(p.Ranks-1)))
			}
			policies := simulate.Policies()
			if policy != "" {
				policies = []simulate.Policy{simulate.Policy(policy)}
			}
			t := cli.Table{Header: []string{"policy", "makespan s", "of ideal", "imbalance", "migrations"}}
			for _, one := range policies {
				p.Policy = one
				r, err := simulate.Run(cmd.Context(), p)
				if errors.Is(err, simulate.ErrParameter) {
					return &cli.UsageError{Err: err}
				}
				if err != nil {
					return err
				}
				if asJSON && policy != "" {
					return env.WriteJSON(r)
				}
				t.Add(one, digits(r.MakespanSeconds), digits(r.MakespanSeconds/r.IdealSeconds), digits(r.Imbalance), r.Migrations)
			}
			if asJSON {
				return cli.Usagef("--json needs one --policy")
			}
			_, err := t.WriteTo(env.Stdout)
			return err
		},
	}
	f := c.Flags()
	f.IntVar(&p.Ranks, "ranks", 8, "ranks")
	f.IntVar(&p.TasksPerRank, "tasks-per-rank", 100, "tasks that each rank creates")
	f.Float64Var(&p.Imbalance, "imbalance", 1, "of the ranks' loads at first, max/mean - 1")
	f.Float64Var(&p.MigrationCost, "migration-cost", 0.0001, "seconds that sending a task keeps the sender's communication thread busy")
	f.Float64Var(&p.MigrationDelay, "migration-delay", 0.0005, "seconds until a task that was sent is there")
	f.Float64Var(&p.Error, "error", 36, "mean error of the predictions, percent")
	f.Float64Var(&p.TaskSeconds, "task-seconds", 0.01, "mean time of a task")
	f.Float64Var(&p.Spread, "spread", 0.5, "standard deviation of the logarithm of task times on one rank")
	f.Float64Var(&p.Interval, "interval", 0, "seconds between exchanges of loads; 0 is the runtime's, two milliseconds, or a hundredth of the mean load where that is less")
	f.Uint64Var(&p.Seed, "seed", 1, "seed")
	f.StringVar(&policy, "policy", "", "none, reactive, steal, proactive or oracle; all in a table where it is not given")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
