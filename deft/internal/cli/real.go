package cli

import (
	"context"

	"github.com/foretime/foretime/shared/cli"

	"github.com/foretime/foretime/deft/experiment"
	"github.com/foretime/foretime/deft/trial"
)

// real runs an experiment with processes.
func (s *setting) real(*cli.Env) func(context.Context, *experiment.Experiment) (*trial.Outcome, error) {
	return func(context.Context, *experiment.Experiment) (*trial.Outcome, error) {
		return nil, cli.Usagef("--clock real: not in this build; use --clock virtual")
	}
}
