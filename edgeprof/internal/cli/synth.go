package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

// newSynthCommand returns synth, which writes a model of a known family with random
// weights.
func newSynthCommand(env *cli.Env) *cobra.Command {
	var size synth.Size
	var seed uint64
	var out, dir string
	c := &cobra.Command{
		Use:     "synth FAMILY",
		Short:   "Write an .onnx model of a known family with random weights",
		Example: "  edgeprof synth resnet --width 0.5 --resolution 96 --out resnet.onnx",
		Long:    "Write an .onnx model of a known family with random weights. Families: " + strings.Join(synth.Families(), ", ") + ".\n\nThe family all writes a set of models of every family in several sizes, to\ncollect and train on, into --out-dir.",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "all" {
				if out != "" {
					return cli.Usagef("--out is one file: all needs --out-dir")
				}
				return writeSet(cmd.Context(), env, dir, seed)
			}
			m, err := synth.New(args[0], size)
			if err != nil {
				return err
			}
			if out == "" {
				out = args[0] + ".onnx"
				if _, err := os.Lstat(out); err == nil {
					return cli.Usagef("%s exists: --out %s replaces it, another name keeps it", out, out)
				}
			}
			if err := writeModel(out, m, seed); err != nil {
				return err
			}
			_, err = fmt.Fprintln(env.Stdout, out)
			return err
		},
	}
	c.Flags().Float64Var(&size.Width, "width", 1, "factor of channels, units and hidden sizes")
	c.Flags().IntVar(&size.Depth, "depth", 0, "layers or blocks (default: the family's own)")
	c.Flags().Int64Var(&size.Resolution, "resolution", 0, "pixels per side, or length of a sequence (default: the family's own)")
	c.Flags().Uint64Var(&seed, "seed", 1, "random seed of the weights")
	c.Flags().StringVar(&out, "out", "", "file to write (default FAMILY.onnx)")
	c.Flags().StringVar(&dir, "out-dir", "models", "with all: `directory` for the models")
	cli.OutputFile(c, "out")
	cli.Words(c)
	return c
}

func writeModel(path string, m *onnx.Model, seed uint64) error {
	return file.Write(path, func(w io.Writer) error { return onnx.Write(w, m, synth.RandomWeights(seed)) })
}

func writeSet(ctx context.Context, env *cli.Env, dir string, seed uint64) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	set := synth.TrainingSet()
	bar := env.Progress("synth", int64(len(set)))
	defer bar.Done()
	for _, n := range set {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := synth.New(n.Family, n.Size)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
		if err := writeModel(filepath.Join(dir, n.Name+".onnx"), m, seed); err != nil {
			return err
		}
		bar.Add(1)
	}
	_, err := fmt.Fprintf(env.Stdout, "%s: %s\n", dir, plural.Count(len(set), "model"))
	return err
}
