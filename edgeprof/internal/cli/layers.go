package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/uncertainty"
)

// layer is one row of the table: a kernel.
type layer struct {
	profiler.Layer
	Measured *float64 `json:"measured_seconds,omitempty"`
}

// layered holds the kernels of a model and their sum.
type layered struct {
	Model    string                 `json:"model"`
	Layers   []layer                `json:"layers"`
	Threads  int                    `json:"threads"` // per inference
	Source   string                 `json:"source"`  // of the times
	MACs     int64                  `json:"macs"`
	Seconds  uncertainty.Prediction `json:"predicted_seconds"`
	Idle     float64                `json:"idle_seconds"` // predicted, without the machine's load now
	Measured *float64               `json:"measured_seconds,omitempty"`
	Warnings []string               `json:"warnings"`

	profiled bool
}

// newLayersCommand returns layers, which lists the kernels of a model with their times.
func newLayersCommand(env *cli.Env) *cobra.Command {
	var calibration string
	var measure bool
	var out cli.Output
	var with running
	c := &cobra.Command{
		Use:     "layers MODEL",
		Short:   "Show every kernel of a model: shape, work, predicted time and, with --measure, the measured one",
		Example: `  edgeprof layers resnet.onnx --measure`,
		Args:    cobra.ExactArgs(1),
		RunE: endQuietly(func(cmd *cobra.Command, args []string) error {
			a, err := analyzeFile(args[0], with.sizes, with.values...)
			if err != nil {
				return err
			}
			if measure {
				if err := with.requireFor(cmd.Context(), env, args[0], a); err != nil {
					return err
				}
				if why := a.InputDecides(); why != nil {
					env.Log.Warnf("measured with inputs of zero, and an input decides the work: %v", why)
				}
			}
			l, err := layersOf(cmd.Context(), env, args[0], a, calibration, measure, &with)
			if err != nil {
				return err
			}
			return out.Print(env, l, func(p *cli.Page) {
				p.Line("%s", strings.Join(append([]string{"one inference with " + plural.Count(l.Threads, "thread"), l.Source}, unknowns(a, l.Warnings, l.profiled)...), "; "))
				warnFirst(env, others(a, l.Warnings))
				layersTable(p, l)
			})
		}),
	}
	f := c.Flags()
	with.threadFlags(c)
	sizeFlag(c, &with.values)
	f.StringVar(&calibration, "calibration", "", "rates of this machine (default: those of edgeprof calibrate, or the built-in ones)")
	f.BoolVar(&measure, "measure", false, "run the model and add the measured time of each kernel")
	with.ortLibraryFlag(c)
	out.Flags(c, layered{})
	cli.First(c, "measure", "calibration", "dim", "json")
	return c
}

// layersOf returns the kernels of a model with their times: those of its profile here and, if
// measure is set, the measured ones too.
func layersOf(ctx context.Context, env *cli.Env, path string, a *onnx.Analysis, calibration string, measure bool, with *running) (*layered, error) {
	machine, err := thisMachine(ctx, env.Root)
	if err != nil {
		return nil, err
	}
	predictor, profiled, err := predictorFor(ctx, env, with, path, a, &machine, calibration, true)
	if err != nil {
		return nil, err
	}
	layers, p, err := predictor.On(ctx, []device.Device{machine}, nil).Layers(a, machine.Node)
	if err != nil {
		return nil, err
	}
	l := &layered{Model: path, Layers: []layer{}, Threads: with.threads, Source: profiled.String(), profiled: profiled.profile != nil, Seconds: p.Seconds, Idle: p.Idle, Warnings: onnx.WarningTexts(p.Warnings)}
	for _, one := range layers {
		l.MACs += one.MACs
		l.Layers = append(l.Layers, layer{Layer: one})
	}
	if measure {
		return l, l.addMeasured(ctx, a, &profiled, with)
	}
	return l, nil
}

// addMeasured adds the times of the kernels that the runtime reports, and their sum. A model
// that was not profiled for its prediction runs for it. The kernels of a loop body share the time
// of the loop's node.
func (l *layered) addMeasured(ctx context.Context, a *onnx.Analysis, profiled *profiling, with *running) error {
	kernels := profiled.kernels
	if kernels == nil {
		c, err := with.profile(ctx, l.Model, a, fewestBursts, mostBursts)
		if err != nil {
			return fmt.Errorf("%s: %w", l.Model, err)
		}
		kernels = c.Kernels
	}
	sum := 0.0
	for i := range l.Layers {
		if t := kernels[i].Seconds; t != nil {
			l.Layers[i].Measured = t
			sum += *t
		}
	}
	l.Measured = &sum
	return nil
}

func layersTable(p *cli.Page, l *layered) {
	header := []string{"kernel", "operator", "shape", "multiply-accumulates", "bytes", "predicted (ms)", "share"}
	if l.Measured != nil {
		header = append(header, "measured (ms)")
	}
	table := p.Table(header...)
	bytes := int64(0)
	for i, k := range l.Layers {
		op := k.Op
		if k.Times > 1 {
			op = fmt.Sprintf("%d x %s", k.Times, op)
		}
		cells := []any{i + 1, op, strings.Trim(strings.ReplaceAll(fmt.Sprint(k.Shape), " ", "x"), "[]"), k.MACs, k.Bytes, 1000 * k.Seconds, cli.Share(k.Share)}
		if l.Measured != nil {
			cells = append(cells, milli(k.Measured))
		}
		table.Add(cells...)
		bytes += k.Bytes
	}
	total := []any{"", "all", "", l.MACs, bytes, 1000 * l.Seconds.Value, cli.Share(1)}
	if l.Measured != nil {
		total = append(total, milli(l.Measured))
	}
	table.Add(total...)
	p.Line("%s", boundSeconds(l.Seconds))
}
