package cli_test

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
)

// A program's main is cli.Main(hello); a test runs it in its own process.
func Example() {
	hello := func(env *cli.Env) *cobra.Command {
		return &cobra.Command{
			Use:  "hello NAME",
			Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error {
				return env.WriteJSON(map[string]string{"hello": args[0]})
			},
		}
	}
	env := cli.NewEnv(os.Stdin, os.Stdout, os.Stdout)
	fmt.Println("exit code", cli.Run(context.Background(), env, hello(env), []string{"world"}))
	fmt.Println("exit code", cli.Run(context.Background(), env, hello(env), nil))
	// Output:
	// {
	//   "hello": "world"
	// }
	// exit code 0
	// hello: accepts 1 arg(s), received 0
	// exit code 2
}
