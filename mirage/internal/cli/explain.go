package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/shared/cli"
)

func newExplainCommand(env *cli.Env) *cobra.Command {
	var in input
	var m machine
	var from, to string
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain FILE JOB",
		Short: "tell why a job waited in the simulated queue",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, w, _, err := m.workload(env, &in, args[0], from, to, 0)
			if err != nil {
				return err
			}
			e, err := simulator.Explain(cmd.Context(), w, args[1])
			if err != nil {
				return err
			}
			if asJSON {
				return env.WriteJSON(e)
			}
			wait := func(start int64) time.Duration { return time.Duration(start-e.Submit) * time.Second }
			fmt.Fprintf(env.Stdout, "job %s of %s waited %v in the simulation, from %s to %s", e.ID, counted(e.Nodes, "node"), wait(e.Start), clock(t, e.Submit), clock(t, e.Start))
			if e.Logged != nil {
				fmt.Fprintf(env.Stdout, "; %v in the log", wait(*e.Logged))
			}
			fmt.Fprintln(env.Stdout)
			var table cli.Table
			table.Header = []string{"from", "free nodes", "jobs ahead", "because"}
			for _, r := range e.Reasons {
				table.Add(clock(t, r.At), r.Free, r.Ahead, r.What)
			}
			if len(e.Reasons) > 0 {
				_, err = table.WriteTo(env.Stdout)
			}
			return err
		},
	}
	in.flags(c)
	m.flags(c)
	f := c.Flags()
	f.StringVar(&from, "from", "", "first day (or time) of submission of the jobs simulated")
	f.StringVar(&to, "to", "", "day (or time) before which they are submitted")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
