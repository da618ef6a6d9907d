package cli

import (
	"math"
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
	c.AddCommand(
		control(env, "list", "List the policy and the programs", 0, nil),
		control(env, "policy NAME", "Change the policy", 1, func(r *daemon.Request, args []string) error {
			r.Policy = args[0]
			return knownPolicy(r.Policy)
		}),
		control(env, "priority CLIENT N", "Change the priority of a program: a larger one is more urgent", 2, numbered(math.MinInt32)),
		control(env, "weight CLIENT N", "Change a program's share of the device", 2, numbered(1)),
		control(env, "pause CLIENT", "Stop a program at its next launch", 1, named),
		control(env, "resume CLIENT", "Resume a paused program", 1, named),
		control(env, "stop", "End the owner: programs continue without a policy", 0, nil),
	)
	return c
}

// control returns a subcommand that sends one request; fill adds the arguments to it.
func control(env *cli.Env, use, short string, args int, fill func(*daemon.Request, []string) error) *cobra.Command {
	var j joined
	var answer cli.Output
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(args)}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		r := daemon.Request{Command: cmd.Name()}
		if fill != nil {
			if err := fill(&r, args); err != nil {
				return err
			}
		}
		at, err := j.place()
		if err != nil {
			return err
		}
		a, err := daemon.Ask(at, r)
		if err != nil || r.Command == "stop" {
			return err
		}
		return answer.Print(env, a, func(p *cli.Page) { showSession(p, a) })
	}
	j.flags(c)
	answer.Flags(c)
	return c
}

// named reads a client.
func named(r *daemon.Request, args []string) error {
	r.Target = args[0]
	return nil
}

// numbered reads a client and a number of low or more.
func numbered(low int64) func(*daemon.Request, []string) error {
	return func(r *daemon.Request, args []string) error {
		n, err := strconv.ParseInt(args[1], 10, 32)
		if err != nil || n < low {
			return cli.Usagef("%s %s: want a whole number of %d or more", r.Command, args[1], low)
		}
		r.Target, r.Number = args[0], n
		return nil
	}
}

func showSession(p *cli.Page, a daemon.Answer) {
	p.Line("session %s, policy %s", a.Session, a.Policy)
	if len(a.Clients) == 0 {
		return
	}
	t := p.Table("PID", "program", "priority", "weight", "state", "launches", "jobs", "memory MB")
	for _, c := range a.Clients {
		state := c.State
		if c.Paused {
			state = "paused"
		}
		t.Add(c.PID, c.Name, c.Priority, c.Weight, state, c.Launches, c.Jobs, float64(c.Memory)/1e6)
	}
}
