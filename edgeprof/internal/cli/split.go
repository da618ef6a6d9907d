package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/split"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// splitPart is a part of a model as it is printed.
type splitPart struct {
	File           string `json:"file"`
	Operators      int    `json:"operators"`
	MACs           int64  `json:"macs"`
	ParameterBytes int64  `json:"parameter_bytes"`
	Input          string `json:"input,omitempty"` // the tensors from the part before, with commas between
	InputBytes     int64  `json:"input_bytes,omitempty"`
}

// newSplitCommand cuts a model into parts that run one after the other.
func newSplitCommand(env *cli.Env) *cobra.Command {
	var distance int
	var sizes []string
	var out string
	var page cli.Output
	c := &cobra.Command{
		Use:     "split MODEL.onnx",
		Short:   "Cut a model at its bridges into parts that run one after the other",
		Example: "  edgeprof split model.onnx --out parts",
		Long: `Cut a model at its bridges, tensors that alone carry everything computed so
far, into parts MODEL_part1.onnx, MODEL_part2.onnx and so on that run one after
the other. A model without a bridge far enough from its beginning is cut where
the fewest tensors cross.`,
		Args: cobra.ExactArgs(1),
		RunE: piped(func(_ *cobra.Command, args []string) error {
			if distance < 1 {
				return cli.Usagef("--min-distance %d: want 1 or more", distance)
			}
			parts, err := splitFile(args[0], out, sizes, split.Settings{MinDistance: distance})
			if err != nil {
				return err
			}
			if err := removeOlder(env, args[0], out, len(parts)); err != nil {
				return err
			}
			return page.Print(env, map[string]any{"parts": parts}, func(p *cli.Page) {
				table := p.Table("part", "operators", "multiply-accumulates", "weights B", "input B", "from")
				for _, one := range parts {
					table.Add(one.File, one.Operators, one.MACs, one.ParameterBytes, one.InputBytes, one.Input)
				}
			})
		}),
	}
	c.Flags().IntVar(&distance, "min-distance", 6, "least number of operators between two cuts")
	dimFlag(c, &sizes)
	c.Flags().StringVar(&out, "out", ".", "folder to write the parts to")
	page.Flags(c)
	return c
}

func splitFile(path, folder string, sizes []string, s split.Settings) ([]splitPart, error) {
	a, err := analyzed(path, sizes)
	if err != nil {
		return nil, err
	}
	parts, err := split.Parts(a, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	source, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	var written []splitPart
	for i, p := range parts {
		name := partName(path, folder, i+1)
		if err := file.Write(name, func(w io.Writer) error { return p.Write(w, source) }); err != nil {
			return nil, err
		}
		written = append(written, splitPart{name, len(p.Operators), p.MACs, p.ParameterBytes, strings.Join(p.Carried, ","), max(0, p.CarriedBytes)})
	}
	return written, nil
}

func partName(path, folder string, number int) string {
	return filepath.Join(folder, fmt.Sprintf("%s_part%d.onnx", strings.TrimSuffix(filepath.Base(path), ".onnx"), number))
}

// removeOlder removes what an older split into more parts left behind: the old
// parts would follow the new ones.
func removeOlder(env *cli.Env, path, folder string, parts int) error {
	for n := parts + 1; ; n++ {
		name := partName(path, folder, n)
		err := os.Remove(name)
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		env.Log.Warnf("%s, of an older split into more parts, is removed", name)
	}
}
