package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/cli"
)

// newInspectCommand returns inspect, which counts a model's layers, parameters and
// operations without loading its weights.
func newInspectCommand(env *cli.Env) *cobra.Command {
	var out cli.Output
	var sizes, values []string
	c := &cobra.Command{
		Use:     "inspect MODEL.onnx",
		Short:   "Count a model's layers, parameters, operations and memory",
		Example: "  edgeprof inspect model.onnx --dim batch=4",
		Args:    cobra.ExactArgs(1),
		RunE: endQuietly(func(_ *cobra.Command, args []string) error {
			a, err := analyzeFile(args[0], sizes, values...)
			if err != nil {
				return err
			}
			counts, err := a.Characteristics()
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			warnings := onnx.WarningTexts(counts.Warnings)
			cli.Warn(env, warnings)
			return out.Print(env, inspected{*counts, warnings}, func(p *cli.Page) { inspection(p, counts) })
		}),
	}
	out.Flags(c, inspected{})
	dimFlag(c, &sizes)
	sizeFlag(c, &values)
	return c
}

// inspected is the answer of inspect.
type inspected struct {
	onnx.Characteristics
	Warnings []string `json:"warnings"`
}

// dimFlag adds --dim.
func dimFlag(c *cobra.Command, sizes *[]string) {
	c.Flags().StringSliceVar(sizes, "dim", nil, "size of an open dimension, such as batch=4 or INPUT:AXIS=640 (default: the exporter's hint, or by its name: 224 for a height or width, 128 for a sequence, a second of samples; else 1)")
}

// dimensions returns the sizes given by --dim.
func dimensions(sizes []string) (onnx.Settings, error) {
	s, err := onnx.ParseSizes(sizes)
	if err != nil {
		return s, cli.Usagef("--dim: %w", err)
	}
	return s, nil
}

// sizeFlag adds --size.
func sizeFlag(c *cobra.Command, values *[]string) {
	c.Flags().StringArrayVar(values, "size", nil, "value of an input that decides sizes within the model, such as INPUT=480,640")
}

// analyzeFile returns the analysis of a model file, with the sizes given by --dim and the
// values given by --size.
func analyzeFile(path string, sizes []string, values ...string) (*onnx.Analysis, error) {
	settings, err := dimensions(sizes)
	if err != nil {
		return nil, err
	}
	if err := settings.ParseValues(values); err != nil {
		return nil, cli.Usagef("--size: %w", err)
	}
	m, err := onnx.ReadFile(path)
	if err != nil {
		return nil, err
	}
	a, err := onnx.Analyze(m, settings)
	switch {
	case errors.Is(err, onnx.ErrDimension):
		return nil, cli.Usagef("%s: --dim: %w", path, err)
	case errors.Is(err, onnx.ErrValue):
		return nil, cli.Usagef("%s: --size: %w", path, err)
	}
	if err == nil {
		err = a.CheckWeights(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

func inspection(p *cli.Page, c *onnx.Characteristics) {
	table := p.Table("characteristic", "value", "unit")
	for _, row := range []struct {
		name  string
		value int64
		unit  string
	}{
		{"conv layers", int64(c.ConvLayers), ""}, {"pool layers", int64(c.PoolLayers), ""}, {"fc layers", int64(c.FCLayers), ""},
		{"filters", c.FilterDetails, ""}, {"parameters", c.TotalParameters, ""}, {"parameter memory", c.ParameterBytes, "B"},
		{"input", c.ModelInputSize, "B"}, {"output", c.ModelOutputSize, "B"},
		{"multiply-accumulates", c.MACs.Total, ""}, {"  in convolutions", c.MACs.Conv, ""}, {"  depthwise", c.MACs.Depthwise, ""},
		{"  in matrix products", c.MACs.Dense, ""}, {"  recurrent", c.MACs.Recurrent, ""},
		{"activations written", c.ActivationBytes, "B"}, {"peak activation memory", c.PeakActivationBytes, "B"},
		{"nodes", int64(c.Nodes), ""}, {"nodes after fusion", int64(c.FusedNodes), ""}, {"depth", int64(c.Depth), ""},
	} {
		table.Add(row.name, row.value, row.unit)
	}
	var ops []string
	for _, op := range slices.Sorted(maps.Keys(c.Ops)) {
		ops = append(ops, fmt.Sprintf("%s %d", op, c.Ops[op]))
	}
	p.Line("operators: %s", strings.Join(ops, ", "))
}
