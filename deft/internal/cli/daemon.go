package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/shared/cli"
)

// newDaemonCommand owns a session.
func newDaemonCommand(env *cli.Env) *cobra.Command {
	var j joined
	var s daemon.Settings
	c := &cobra.Command{
		Use:     "daemon",
		Short:   "Own the session that programs under deft exec join",
		Example: "  deft daemon --device sim --policy priority --linger 1h",
		Long: `Own the session that programs under deft exec join: apply a policy to them,
until stopped. One that was killed leaves the session to the next, which goes on
with the same policy; programs go on meanwhile. deft exec starts one by itself
where none runs.

Policies:
` + policy.Policies.Help(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return supervise(cmd.Context(), env, &j, s) },
	}
	j.flags(c)
	c.Flags().StringVar(&s.Policy, "policy", "", "policy (default: that of an owner that was killed, or priority)")
	cli.Values(c, "policy", policy.Policies.Names()...)
	c.Flags().DurationVar(&s.Linger, "linger", 0, "end so long after the last program (0: never)")
	return c
}

func supervise(ctx context.Context, env *cli.Env, j *joined, s daemon.Settings) error {
	if s.Linger < 0 {
		return cli.Usagef("--linger %v: want 0 or more", s.Linger)
	}
	if err := knownPolicy(s.Policy); err != nil {
		return err
	}
	at, err := j.place()
	if err != nil {
		return err
	}
	d, err := daemon.Start(at, s)
	if err != nil {
		return err
	}
	// who waits for this line may join
	if _, err := fmt.Fprintf(env.Stdout, "session %s: %s, policy %s\n", at.Name(), at.Session(), d.Policy()); err != nil {
		return err
	}
	env.LogTimes()
	return d.Run(ctx)
}

// knownPolicy says whether a policy that was named, if one was, exists.
func knownPolicy(name string) error {
	if name == "" {
		return nil
	}
	if _, err := policy.New(name, policy.Settings{}); err != nil {
		return cli.Usagef("--policy: %w", err)
	}
	if name == "quota" || name == "control" {
		return cli.Usagef("--policy %s: it goes by what an experiment's file says of its models (deft run -f); here take fair, and weights", name)
	}
	return nil
}
