package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/shared/cli"
)

func newExplainCommand(env *cli.Env) *cobra.Command {
	s := newSettings()
	var d dates
	var out cli.Output
	c := &cobra.Command{
		Use:     "explain FILE JOB",
		Short:   "tell why a job waited in the simulated queue",
		Example: "  mirage explain month.log 700 --nodes 30",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, w, err := s.workload(env, args[0], d, 0)
			if err != nil {
				return err
			}
			e, err := simulator.Explain(cmd.Context(), w, args[1])
			if err != nil {
				return err
			}
			return out.Print(env, e, func(p *cli.Page) {
				wait := func(start int64) time.Duration { return time.Duration(start-e.Submit) * time.Second }
				logged := ""
				if e.Logged != nil {
					logged = "; " + wait(*e.Logged).String() + " in the log"
				}
				p.Line("job %s of %s waited %v in the simulation, from %s to %s%s", e.ID, counted(e.Nodes, "node"), wait(e.Start), clock(t, e.Submit), clock(t, e.Start), logged)
				if len(e.Reasons) == 0 {
					return
				}
				table := p.Table("from", "free nodes", "jobs ahead", "because")
				for _, r := range e.Reasons {
					table.Add(clock(t, r.At), r.Free, r.Ahead, r.What)
				}
			})
		},
	}
	d.flags(c)
	s.machineFlags(c)
	out.Flags(c)
	cli.First(c, "nodes", "config", "from", "to", "json")
	return c
}
