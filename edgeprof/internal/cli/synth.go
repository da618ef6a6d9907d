package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/edgeprof/synth"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/dataset"
)

// NewSynthCommand writes a model of a known family with random weights.
func NewSynthCommand(env *cli.Env) *cobra.Command {
	var size synth.Size
	var seed uint64
	var out string
	c := &cobra.Command{
		Use:   "synth FAMILY",
		Short: "Write an .onnx model of a known family with random weights",
		Long:  "Write an .onnx model of a known family with random weights. Families: " + strings.Join(synth.Families(), ", ") + ".",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := synth.New(args[0], size)
			if err != nil {
				return err
			}
			if out == "" {
				out = args[0] + ".onnx"
			}
			err = dataset.WriteFile(out, func(w io.Writer) error { return onnx.Write(w, m, synth.Weights(seed)) })
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(env.Stdout, out)
			return err
		},
	}
	c.Flags().Float64Var(&size.Width, "width", 1, "factor on channels, units and hidden sizes")
	c.Flags().IntVar(&size.Depth, "depth", 0, "layers or blocks (default: the family's own)")
	c.Flags().Int64Var(&size.Resolution, "resolution", 0, "pixels of a side, or length of a sequence (default: the family's own)")
	c.Flags().Int64Var(&size.Batch, "batch", 1, "images or sequences at once")
	c.Flags().Int64Var(&size.Classes, "classes", 0, "outputs (default: the family's own)")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of the weights")
	c.Flags().StringVar(&out, "out", "", "file to write (default FAMILY.onnx)")
	return c
}
