package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/trial"
	"github.com/foretime/foretime/shared/cli"
)

// newAloneCommand returns alone, which runs each model by itself. Reports compare shared
// runs with it.
func newAloneCommand(env *cli.Env) *cobra.Command {
	var s setting
	c := &cobra.Command{
		Use:     "alone -f FILE",
		Short:   "Run each model of an experiment alone, one after another",
		Example: `  deft alone -f input.json --clock virtual --json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			x, err := s.load(env)
			if err != nil {
				return err
			}
			r, err := trial.Alone(cmd.Context(), x, s.player(env))
			if err != nil {
				return err
			}
			if err := r.Save(aloneFile(x)); err != nil {
				return err
			}
			return s.show(env, r, r)
		},
	}
	s.flags(c)
	cli.First(c, "file", "clock", "device", "out", "json")
	return c
}

// aloneFile returns the file with the results of the models alone.
func aloneFile(x *experiment.Experiment) string {
	return filepath.Join(x.Models[len(x.Models)-1].OutputDir, "alone.json")
}

// player returns play as a function.
func (s *setting) player(env *cli.Env) trial.Play {
	return func(ctx context.Context, x *experiment.Experiment) (*trial.Outcome, error) {
		return s.play(ctx, env, x)
	}
}
