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
	"github.com/foretime/foretime/shared/dataset"
)

// newPlotCommand returns plot, which groups the plots.
func newPlotCommand(env *cli.Env) *cobra.Command {
	c := &cobra.Command{Use: "plot", Short: "Plot the results of an experiment, as .svg or .png"}
	c.AddCommand(
		newLogPlot(env, "jct-timeseries", "Plot completion times over time", "jct_vs_t.svg", func(logs []report.NamedLog) chart.Chart { return report.TimeSeries(logs) }),
		newLogPlot(env, "cdf", "Plot the distribution of completion times", "jct_cdf.svg", func(logs []report.NamedLog) chart.Chart { return report.CDF(logs) }),
		newSweepPlot("intervals", "Plot completion time or inflation over the synchronization interval", func(s *trial.Sweep, m trial.Measure) chart.Chart { return s.Intervals(m) }),
		newSweepPlot("scatter", "Plot the second model of a sweep over the first, one point per interval", func(s *trial.Sweep, m trial.Measure) chart.Chart { return s.Scatter(m) }),
		newQueuePlot(),
	)
	return c
}

// newLogPlot returns a plot of logs: two given by the original Deft's flags, or any number.
func newLogPlot(env *cli.Env, name, short, image string, draw func([]report.NamedLog) chart.Chart) *cobra.Command {
	var a, b, out string
	var more []string
	c := &cobra.Command{
		Use:     name,
		Short:   short,
		Example: "  deft plot " + name + " --model-A-jct-log logs/model_A.csv --model-B-jct-log logs/model_B.csv --out " + image,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			logs, err := loadLogs(env, append([]string{a, b}, more...))
			if err != nil {
				return err
			}
			return chart.Save(out, draw(logs))
		},
	}
	f := c.Flags()
	f.StringVar(&a, "model-A-jct-log", "", "log of the first model")
	f.StringVar(&b, "model-B-jct-log", "", "log of the second model")
	f.StringSliceVar(&more, "log", nil, "more logs")
	f.StringVar(&out, "out", image, "image to write, .svg or .png")
	cli.OutputFile(c, "out")
	return c
}

// loadLogs reads the logs whose path is not empty and warns of unreadable rows.
func loadLogs(env *cli.Env, paths []string) ([]report.NamedLog, error) {
	paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" })
	var named []report.NamedLog
	for i, name := range fileNames(paths) {
		log, err := report.LoadLog(paths[i])
		if err != nil {
			return nil, err
		}
		cli.Warn(env, log.Diagnostics)
		named = append(named, report.NamedLog{Name: name, Log: log})
	}
	if len(named) == 0 {
		return nil, cli.Usagef("no log given: use --model-A-jct-log, --model-B-jct-log or --log")
	}
	return named, nil
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

// newSweepPlot returns a plot of a sweep.
func newSweepPlot(name, short string, draw func(*trial.Sweep, trial.Measure) chart.Chart) *cobra.Command {
	var from, what, out string
	c := &cobra.Command{
		Use:     name + " --from SWEEP.json",
		Short:   short,
		Example: "  deft plot " + name + " --from sweep.json --out " + name + ".svg",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			measure, ok := map[string]trial.Measure{"jct": trial.JCT, "inflation": trial.Inflation}[what]
			if !ok {
				return cli.Usagef("--what: %q, want jct or inflation", what)
			}
			s, err := trial.LoadSweep(from)
			if err != nil {
				return err
			}
			return chart.Save(out, draw(s, measure))
		},
	}
	f := c.Flags()
	f.StringVar(&from, "from", "", "JSON file of deft sweep (required)")
	f.StringVar(&what, "what", "jct", "quantity: jct or inflation")
	cli.Values(c, "what", "jct", "inflation")
	f.StringVar(&out, "out", name+".svg", "image to write, .svg or .png")
	cli.OutputFile(c, "out")
	cli.Require(c, "from")
	return c
}

// newQueuePlot returns a plot of a queue log.
func newQueuePlot() *cobra.Command {
	var from, out string
	c := &cobra.Command{
		Use:     "queue --from QUEUE.csv",
		Short:   "Plot the launches in flight over time, from a file of deft run --queue-log",
		Example: "  deft plot queue --from queue.csv --out queue.svg",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			rows, err := dataset.Load[report.Depth](from, dataset.Options{})
			if err != nil {
				return err
			}
			return chart.Save(out, report.Queue(rows.Rows))
		},
	}
	c.Flags().StringVar(&from, "from", "", "CSV file of deft run --queue-log (required)")
	c.Flags().StringVar(&out, "out", "queue.svg", "image to write, .svg or .png")
	cli.OutputFile(c, "out")
	cli.Require(c, "from")
	return c
}
