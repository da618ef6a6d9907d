package cli_test

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// A program's main is cli.Main(hello); a test runs it in its own process.
func Example() {
	env := cli.NewEnv(os.Stdin, os.Stdout, os.Stdout)
	fmt.Println("exit code", cli.Run(context.Background(), env, wait(env), []string{"node1"}))
	fmt.Println("exit code", cli.Run(context.Background(), env, wait(env), []string{"node1", "--json", "--set", "nodes=2"}))
	fmt.Println("exit code", cli.Run(context.Background(), env, wait(env), nil))
	// Output:
	// node1 of 8 nodes waits 90.0 s, 80.0 to 99.0 (90 %)
	//
	// queue           wait (s)
	// -----  -----------------
	// gpu    90.0 [80.0, 99.0]
	// exit code 0
	// {
	//   "wait_seconds": {
	//     "value": 90,
	//     "low": 80,
	//     "high": 99,
	//     "level": 0.9
	//   }
	// }
	// exit code 0
	// wait: have 0 arguments; usage: wait HOST [flags]
	// exit code 2
}

// waited is the answer of wait.
type waited struct {
	Wait uncertainty.Prediction `json:"wait_seconds"`
}

// wait returns a command with an answer and a setting.
func wait(env *cli.Env) *cobra.Command {
	var out cli.Output
	cluster := struct {
		Nodes int `json:"nodes" help:"nodes of the cluster"`
	}{8}
	settings := cli.NewSettings(&cluster)
	c := &cobra.Command{
		Use:  "wait HOST",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := settings.Load(); err != nil {
				return err
			}
			answer := waited{uncertainty.Prediction{Value: 90, Low: 80, High: 99, Level: 0.9}}
			return out.Print(env, answer, func(p *cli.Page) {
				p.Line("%s of %d nodes waits %v", args[0], cluster.Nodes, cli.Seconds(answer.Wait))
				p.Table("queue", "wait (s)").Add("gpu", answer.Wait)
			})
		},
	}
	out.Flags(c, waited{})
	settings.Flags(c)
	return c
}
