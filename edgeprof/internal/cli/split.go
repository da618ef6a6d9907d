package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/split"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// splitPart is one part of a model in the answer.
type splitPart struct {
	File           string `json:"file"`
	Operators      int    `json:"operators"`
	MACs           int64  `json:"macs"`
	ParameterBytes int64  `json:"parameter_bytes"`
	Input          string `json:"input,omitempty"` // the tensors from the previous part, separated by commas
	InputBytes     int64  `json:"input_bytes,omitempty"`
}

// newSplitCommand returns split, which cuts a model into parts that run in sequence.
func newSplitCommand(env *cli.Env) *cobra.Command {
	var distance int
	var sizes []string
	var out string
	var replace bool
	var page cli.Output
	c := &cobra.Command{
		Use:     "split MODEL.onnx",
		Short:   "Cut a model at its bridges into parts that run in sequence",
		Example: "  edgeprof split model.onnx --out parts",
		Long: `Cut a model into parts MODEL_part1.onnx, MODEL_part2.onnx and so on that run in
sequence. It is cut at bridges: single tensors that carry everything computed so
far. A model without a bridge far enough from its beginning is cut where the
fewest tensors cross.`,
		Args: cobra.ExactArgs(1),
		RunE: piped(func(_ *cobra.Command, args []string) error {
			if distance < 1 {
				return cli.Usagef("--min-distance %d: want 1 or more", distance)
			}
			s := splitting{args[0], out, sizes, replace, split.Settings{MinDistance: distance}}
			parts, err := s.run(env)
			if err != nil {
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
	c.Flags().IntVar(&distance, "min-distance", 6, "smallest number of operators between two cuts")
	dimFlag(c, &sizes)
	c.Flags().StringVar(&out, "out", ".", "directory to write the parts to")
	c.Flags().BoolVar(&replace, "replace", false, "replace the parts of an earlier split of this model in that directory, and remove surplus ones")
	page.Flags(c)
	return c
}

// splitting holds the arguments of split.
type splitting struct {
	path, folder string
	sizes        []string
	replace      bool // replace the parts of an earlier split
	split.Settings
}

func (s *splitting) run(env *cli.Env) ([]splitPart, error) {
	earlier, err := earlierParts(s.path, s.folder)
	if err != nil {
		return nil, err
	}
	if len(earlier) > 0 && !s.replace {
		return nil, cli.Usagef("%s exists: use --replace to replace the parts of an earlier split, or --out for another directory", earlier[0])
	}
	if err := env.Output(earlier...); err != nil {
		return nil, err
	}
	a, err := analyzed(s.path, s.sizes)
	if err != nil {
		return nil, err
	}
	parts, err := split.Parts(a, s.Settings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	source, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return nil, err
	}
	var written []splitPart
	for i, p := range parts {
		name := partName(s.path, s.folder, i+1)
		if err := file.Write(name, func(w io.Writer) error { return p.Write(w, source) }); err != nil {
			return nil, err
		}
		earlier = slices.DeleteFunc(earlier, func(e string) bool { return e == name })
		written = append(written, splitPart{name, len(p.Operators), p.MACs, p.ParameterBytes, strings.Join(p.Carried, ","), max(0, p.CarriedBytes)})
	}
	return written, removeParts(env, earlier)
}

func partName(path, folder string, number int) string {
	return filepath.Join(folder, fmt.Sprintf("%s_part%d.onnx", strings.TrimSuffix(filepath.Base(path), ".onnx"), number))
}

// earlierParts returns the parts of a model that a directory already contains.
func earlierParts(path, folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	stem := strings.TrimSuffix(filepath.Base(path), ".onnx") + "_part"
	var parts []string
	for _, e := range entries {
		number, isPart := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".onnx"), stem)
		if _, err := strconv.ParseUint(number, 10, 32); isPart && err == nil && filepath.Ext(e.Name()) == ".onnx" {
			parts = append(parts, filepath.Join(folder, e.Name()))
		}
	}
	return parts, nil
}

// removeParts removes the surplus parts of an earlier split into more parts.
func removeParts(env *cli.Env, parts []string) error {
	for _, name := range parts {
		if err := os.Remove(name); err != nil {
			return err
		}
		env.Log.Warnf("removed %s: it belongs to an earlier split into more parts", name)
	}
	return nil
}
