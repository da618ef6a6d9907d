package cli

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/perfmodel"
	"github.com/foretime/foretime/chamtool/tasklog"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/neural"
)

func newTrainCommand(env *cli.Env) *cobra.Command {
	var format, out string
	var epochs int
	var seed uint64
	var fraction float64
	var hidden []int
	c := &cobra.Command{
		Use:   "train FILE... --out FILE.json",
		Short: "Train a small network on logs, for --model mlp and CHAMTOOL_MLP",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := tasklog.ParseFormat(format)
			if err != nil {
				return cli.Usagef("--format: %w", err)
			}
			if !(fraction > 0 && fraction <= 1) {
				return cli.Usagef("--train-fraction %v: want it in (0, 1]", fraction)
			}
			logs, err := loadLogs(env, args, f)
			if err != nil {
				return err
			}
			network := &perfmodel.Network{Entries: map[string]*perfmodel.Net{}}
			names, rows := byEntry(logs, fraction)
			for _, name := range names {
				bar := env.Progress("train "+name, int64(epochs))
				m := neural.MLP{Hidden: hidden, Training: neural.Training{Epochs: epochs, Seed: seed, Progress: func(done int, _ float64) { bar.Set(int64(done)) }}}
				net, err := trainOne(cmd, m, rows[name])
				bar.Done()
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				network.Entries[name] = net
				fmt.Fprintf(env.Stdout, "%s: %d runs\n", name, len(rows[name]))
			}
			return network.Save(out)
		},
	}
	fl := c.Flags()
	fl.StringVar(&format, "format", "auto", "format of the files: auto, csv, parquet or mxm, packed by gzip or not")
	fl.StringVar(&out, "out", "", "network to write")
	fl.IntVar(&epochs, "epochs", 200, "most passes over the runs")
	fl.Uint64Var(&seed, "seed", 1, "seed")
	fl.Float64Var(&fraction, "train-fraction", 1, "learn from the first share of each file")
	fl.IntSliceVar(&hidden, "hidden", []int{16, 16}, "units of each hidden layer")
	cli.Require(c, "out")
	return c
}

// byEntry are the runs of each task function, names in the order they appear.
func byEntry(logs []*tasklog.Log, fraction float64) (names []string, rows map[string][]tasklog.Row) {
	rows = map[string][]tasklog.Row{}
	for _, l := range logs {
		for _, r := range l.Rows[:int(fraction*float64(len(l.Rows)))] {
			if rows[r.Entry] == nil {
				names = append(names, r.Entry)
			}
			rows[r.Entry] = append(rows[r.Entry], r)
		}
	}
	return names, rows
}

func trainOne(cmd *cobra.Command, m neural.MLP, rows []tasklog.Row) (*perfmodel.Net, error) {
	x, y := make([][]float64, len(rows)), make([]float64, len(rows))
	width := max(len(rows[0].Sizes), 1)
	for i, r := range rows {
		x[i], y[i] = perfmodel.Inputs(r.Sizes, width), math.Log(r.Seconds)
	}
	s, err := regression.NewSamples(x, y)
	if err != nil {
		return nil, err
	}
	network, err := m.Fit(cmd.Context(), s)
	if err != nil {
		return nil, err
	}
	scorer, err := network.Scorer()
	if err != nil {
		return nil, err
	}
	return netOf(scorer), nil
}

// netOf turns a trained scorer into what the tool library loads.
func netOf(s *neural.Scorer) *perfmodel.Net {
	n := &perfmodel.Net{Mean: s.Scaling.Center, Scale: s.Scaling.Scale, Offset: s.Scaling.TargetCenter, Spread: s.Scaling.TargetScale}
	for _, l := range s.Layers {
		layer := perfmodel.Layer{}
		for o := range l.Outputs {
			row := make([]float64, l.Inputs)
			for i := range row {
				row[i] = float64(l.Weights[i*l.Outputs+o])
			}
			layer.Weights = append(layer.Weights, row)
			layer.Bias = append(layer.Bias, float64(l.Biases[o]))
		}
		n.Layers = append(n.Layers, layer)
	}
	return n
}
