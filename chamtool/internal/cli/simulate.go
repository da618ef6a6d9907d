package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/job"
	"github.com/foretime/foretime/chamtool/simulate"
	"github.com/foretime/foretime/shared/cli"
)

func newSimulateCommand(env *cli.Env) *cobra.Command {
	var p simulate.Parameters
	var policy string
	var out cli.Output
	c := &cobra.Command{
		Use:     "simulate [LOGDIR]",
		Short:   "Play an iteration on many ranks under a balancing policy, or a recorded job",
		Example: "  chamtool simulate --ranks 8 --imbalance 1 --error 15",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return recorded(cmd, env, args[0], p, &out)
			}
			if !cmd.Flags().Changed("imbalance") { // one rank has none
				p.Imbalance = max(0, min(p.Imbalance, float64(p.Ranks-1)))
			}
			policies := simulate.Policies()
			if policy != "" {
				policies = []simulate.Policy{simulate.Policy(policy)}
			}
			var played []outcome
			for _, one := range policies {
				p.Policy = one
				r, err := simulate.Run(cmd.Context(), p)
				if errors.Is(err, simulate.ErrParameter) {
					return &cli.UsageError{Err: err}
				}
				if err != nil {
					return err
				}
				played = append(played, outcome{one, r})
			}
			var answer any = played
			if policy != "" {
				answer = played[0].Result
			}
			return out.Print(env, answer, func(p *cli.Page) {
				t := p.Table("policy", "makespan s", "of ideal", "imbalance", "migrations")
				for _, r := range played {
					t.Add(r.Policy, r.MakespanSeconds, r.MakespanSeconds/r.IdealSeconds, r.Imbalance, r.Migrations)
				}
			})
		},
	}
	f := c.Flags()
	f.IntVar(&p.Ranks, "ranks", 8, "ranks")
	f.IntVar(&p.TasksPerRank, "tasks-per-rank", 100, "tasks that each rank creates")
	f.Float64Var(&p.Imbalance, "imbalance", 1, "of the ranks' loads at first, max/mean - 1")
	f.Float64Var(&p.MigrationCost, "migration-cost", 0.0001, "seconds that sending a task keeps the sender's communication thread busy")
	f.Float64Var(&p.MigrationDelay, "migration-delay", 0.0005, "seconds until a task that was sent is there")
	f.Float64Var(&p.Error, "error", 36, "mean error of the predictions, percent")
	f.Float64Var(&p.Spread, "spread", 0.5, "standard deviation of the logarithm of task times on one rank")
	f.Float64Var(&p.Interval, "interval", 0, "seconds between exchanges of loads; 0 is the runtime's, two milliseconds, or a hundredth of the mean load where that is less")
	f.Uint64Var(&p.Seed, "seed", 1, "seed")
	f.StringVar(&policy, "policy", "", "none, reactive, steal, proactive or oracle; all in a table where it is not given")
	out.Flags(c)
	cli.First(c, "ranks", "imbalance", "error", "policy", "json")
	return c
}

// recorded predicts the makespan of a job from its logs, without moving tasks and
// with.
func recorded(cmd *cobra.Command, env *cli.Env, dir string, p simulate.Parameters, out *cli.Output) error {
	for _, name := range []string{"ranks", "tasks-per-rank", "imbalance", "error", "spread", "policy"} {
		if cmd.Flags().Changed(name) {
			return &cli.UsageError{Err: fmt.Errorf("--%s: the logs tell it", name)}
		}
	}
	j, err := job.Load(cmd.Context(), dir)
	if err != nil {
		return err
	}
	cli.Warn(env, j.Reasons)
	forecasts, err := simulate.Recorded(cmd.Context(), j, p)
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
}

// outcome is how the iteration went under a policy.
type outcome struct {
	Policy simulate.Policy `json:"policy"`
	simulate.Result
}
