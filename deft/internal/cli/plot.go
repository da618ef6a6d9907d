package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/deft/internal/trial"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
)

// newPlotCommand returns plot, which groups the plots.
func newPlotCommand(env *cli.Env) *cobra.Command {
	c := &cobra.Command{Use: "plot", Short: "Plot the results of an experiment, as .svg, .png or .jpg"}
	c.AddCommand(newTimeSeriesPlot(env), newIntervalsPlot())
	return c
}

// newTimeSeriesPlot returns a plot of logs: two given by the original Deft's flags, or any number.
func newTimeSeriesPlot(env *cli.Env) *cobra.Command {
	var a, b, out string
	c := &cobra.Command{
		Use:     "jct-timeseries [LOG...]",
		Short:   "Plot completion times over time",
		Example: "  deft plot jct-timeseries --model-A-jct-log logs/model_A.csv --model-B-jct-log logs/model_B.csv --out jct_vs_t.svg",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, more []string) error {
			logs, err := loadLogs(env, append([]string{a, b}, more...))
			if err != nil {
				return err
			}
			return chart.Save(out, report.TimeSeries(logs))
		},
	}
	f := c.Flags()
	f.StringVar(&a, "model-A-jct-log", "", "log of the first model")
	f.StringVar(&b, "model-B-jct-log", "", "log of the second model")
	f.StringVar(&out, "out", "jct_vs_t.svg", "image to write, .svg, .png or .jpg")
	cli.OutputFile(c, "out")
	return c
}

// loadLogs reads the logs whose path is not empty and warns of unreadable rows.
func loadLogs(env *cli.Env, paths []string) ([]*report.Log, error) {
	paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" })
	var logs []*report.Log
	for i, name := range fileNames(paths) {
		log, err := report.LoadLog(paths[i])
		if err != nil {
			return nil, err
		}
		cli.Warn(env, log.Diagnostics)
		log.Name = name
		logs = append(logs, log)
	}
	if len(logs) == 0 {
		return nil, cli.Usagef("want a log")
	}
	return logs, nil
}

// fileNames returns the names of files, with their directories if two files share a name.
func fileNames(paths []string) []string {
	var names []string
	for _, path := range paths {
		base := filepath.Base(path)
		alike := func(other string) bool { return other != path && filepath.Base(other) == base }
		if slices.ContainsFunc(paths, alike) {
			base = filepath.Join(filepath.Base(filepath.Dir(path)), base)
		}
		names = append(names, strings.TrimSuffix(base, filepath.Ext(base)))
	}
	return names
}

// newIntervalsPlot returns a plot of a sweep.
func newIntervalsPlot() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:     "intervals SWEEP.json",
		Short:   "Plot completion times over the synchronization interval, from the JSON of deft run --sync",
		Example: "  deft plot intervals sweep.json --out intervals.svg",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := trial.LoadSweep(args[0])
			if err != nil {
				return err
			}
			return chart.Save(out, s.Intervals())
		},
	}
	c.Flags().StringVar(&out, "out", "intervals.svg", "image to write, .svg, .png or .jpg")
	cli.OutputFile(c, "out")
	return c
}
