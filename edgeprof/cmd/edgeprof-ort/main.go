// Command edgeprof-ort is the worker that runs models with ONNX Runtime. It is
// started by edgeprof, answers on stdin and stdout, and is the only program of
// the project that loads the native library.
package main

import (
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/runtime/worker"
	"github.com/foretime/foretime/shared/cli"
)

func main() { cli.Main(newCommand) }

func newCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "edgeprof-ort",
		Short:   "Run models with ONNX Runtime for edgeprof, which starts this worker itself",
		Example: "  edgeprof time model.onnx",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return worker.Serve(cmd.Context(), env.Stdin, env.Stdout, load)
		},
	}
}
