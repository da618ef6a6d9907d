package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/runner"
	"github.com/foretime/foretime/allox-est/internal/sampling"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// newRemoteCommand returns "remote", which allox-est starts on another machine.
func newRemoteCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:    "remote",
		Short:  "Make the run that allox-est on another machine requests on standard input",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return sampling.Answer(cmd.Context(), file.Interruptible(env.Stdin), env.Stdout, func(ctx context.Context, r *sampling.Request) (*sampling.Reply, error) {
				return makeRun(ctx, env, r)
			})
		},
	}
}

// makeRun makes the run that a request asks for.
func makeRun(ctx context.Context, env *cli.Env, r *sampling.Request) (*sampling.Reply, error) {
	spec, err := r.Spec()
	if err != nil {
		return nil, err
	}
	id, err := sampling.Identify(spec, thisMachine(), os.Environ())
	if err != nil || r.Epochs == 0 {
		return &sampling.Reply{Identity: id}, err
	}
	s, done := newSampler(env, spec, nil)
	defer done()
	s.Identity = id
	run, err := s.Once(ctx, r.Step)
	return &sampling.Reply{Identity: id, Run: run}, err
}

// newGuardCommand returns "guard", which allox-est starts with every run.
func newGuardCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:    "guard SCRATCH CGROUP",
		Short:  "End a run if its allox-est is killed",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		Run:    func(_ *cobra.Command, args []string) { runner.Guard(env.Stdin, args[0], args[1]) },
	}
}

// guardCommand returns the command line of this program as a guard.
func guardCommand() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, "guard"}
}
