package cli

import (
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/shared/cli"
)

// newCtlCommand returns ctl, which sends requests to the owner of a session.
func newCtlCommand(env *cli.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "ctl",
		Short: "Inspect and change a running session",
		Long: `Inspect and change a running session. CLIENT is a process id, or the name of deft
exec --name: then the request applies to all programs with this name.`,
	}
	paused := func(on bool) request {
		return func(at daemon.Place, args []string) (daemon.Status, error) {
			return at.SetClients(args[0], daemon.ClientChange{Paused: &on})
		}
	}
	c.AddCommand(
		newRequestCommand(env, "list", "List the policy and the programs", 0, func(at daemon.Place, _ []string) (daemon.Status, error) { return at.Status() }),
		newRequestCommand(env, "policy NAME", "Change the policy", 1, setPolicy),
		newRequestCommand(env, "priority CLIENT N", "Change the priority of a program: a larger one is more urgent", 2, setPriority),
		newRequestCommand(env, "weight CLIENT N", "Change a program's share of the device", 2, setWeight),
		newRequestCommand(env, "pause CLIENT", "Stop a program at its next launch", 1, paused(true)),
		newRequestCommand(env, "resume CLIENT", "Resume a paused program", 1, paused(false)),
		newStopCommand(),
	)
	return c
}

// request sends one request and returns the state of the session after it.
type request func(at daemon.Place, args []string) (daemon.Status, error)

// newRequestCommand returns a subcommand that sends one request and prints the session.
func newRequestCommand(env *cli.Env, use, short string, args int, send request) *cobra.Command {
	var j sessionFlags
	var answer cli.Output
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(args)}
	c.RunE = func(_ *cobra.Command, args []string) error {
		at, err := j.place()
		if err != nil {
			return err
		}
		s, err := send(at, args)
		if err != nil {
			return err
		}
		return answer.Print(env, s, func(p *cli.Page) { showSession(p, s) })
	}
	if args == 2 {
		c.SetFlagErrorFunc(negativeNumber)
	}
	j.flags(c)
	answer.Flags(c, daemon.Status{})
	return c
}

var negative = regexp.MustCompile(` in (-\d+)$`)

// negativeNumber explains the error about a negative number, which was read as a flag.
func negativeNumber(c *cobra.Command, err error) error {
	if m := negative.FindStringSubmatch(err.Error()); m != nil {
		return cli.Usagef("%s: write -- before a negative number, as in %s CLIENT -- %[1]s", m[1], c.CommandPath())
	}
	return c.Parent().FlagErrorFunc()(c, err)
}

// newStopCommand returns stop, which ends the owner.
func newStopCommand() *cobra.Command {
	var j sessionFlags
	c := &cobra.Command{
		Use:     "stop",
		Short:   "End the owner: programs continue without a policy",
		Example: "  deft ctl stop --session cuda",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			at, err := j.place()
			if err != nil {
				return err
			}
			return at.Stop()
		},
	}
	j.flags(c)
	return c
}

func setPolicy(at daemon.Place, args []string) (daemon.Status, error) {
	if err := checkPolicy("policy", args[0]); err != nil {
		return daemon.Status{}, err
	}
	return at.SetPolicy(daemon.PolicyChange{Policy: args[0]})
}

func setPriority(at daemon.Place, args []string) (daemon.Status, error) {
	n, err := strconv.ParseInt(args[1], 10, 32)
	if err != nil {
		return daemon.Status{}, cli.Usagef("priority %s: want a whole number of %d to %d", args[1], -1<<31, 1<<31-1)
	}
	priority := int32(n)
	return at.SetClients(args[0], daemon.ClientChange{Priority: &priority})
}

func setWeight(at daemon.Place, args []string) (daemon.Status, error) {
	n, err := strconv.ParseUint(args[1], 10, 31)
	if err != nil || n < 1 {
		return daemon.Status{}, cli.Usagef("weight %s: want a whole number of 1 to %d", args[1], 1<<31-1)
	}
	weight := uint32(n)
	return at.SetClients(args[0], daemon.ClientChange{Weight: &weight})
}

// showSession prints one row per client.
func showSession(p *cli.Page, s daemon.Status) {
	p.Line("session %s, policy %s", s.Session, s.Policy)
	t := p.Table("PID", "program", "priority", "weight", "state", "gate", "queued", "launches", "jobs", "memory (MB)")
	for _, c := range s.Clients {
		state := c.State
		if c.Paused {
			state = "paused"
		}
		t.Add(c.PID, c.Name, c.Priority, c.Weight, state, c.Gate, c.Queued, c.Launches, c.Jobs, float64(c.Memory)/1e6)
	}
}
