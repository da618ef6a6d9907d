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

// newPlotCommand groups the plots.
func newPlotCommand(env *cli.Env) *cobra.Command {
	c := &cobra.Command{Use: "plot", Short: "draw an experiment, .svg or .png"}
	c.AddCommand(
		newLogPlot(env, "jct-timeseries", "draw completion times over time", "jct_vs_t.svg", func(logs []report.Named) chart.Chart { return report.TimeSeries(logs) }),
		newLogPlot(env, "cdf", "draw the distribution of completion times", "jct_cdf.svg", func(logs []report.Named) chart.Chart { return report.CDF(logs) }),
		newSweepPlot("intervals", "draw completion time or inflation against the synchronization interval", func(s *trial.Sweep, m trial.Measure) chart.Chart { return s.Intervals(m) }),
		newSweepPlot("scatter", "draw the second model of a sweep against the first, a point for each interval", func(s *trial.Sweep, m trial.Measure) chart.Chart { return s.Scatter(m) }),
		newQueuePlot(),
	)
	return c
}

// newLogPlot draws logs: two by Deft's flags, or any number.
func newLogPlot(env *cli.Env, name, short, image string, draw func([]report.Named) chart.Chart) *cobra.Command {
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
	f.StringSliceVar(&more, "log", nil, "further logs")
	f.StringVar(&out, "out", image, "the image")
	cli.OutputFile(c, "out")
	return c
}

// loadLogs reads the logs that have a path and warns of rows that could not be
// read.
func loadLogs(env *cli.Env, paths []string) ([]report.Named, error) {
	paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" })
	var named []report.Named
	for i, name := range names(paths) {
		log, err := report.LoadLog(paths[i])
		if err != nil {
			return nil, err
		}
		cli.Warn(env, log.Diagnostics)
		named = append(named, report.Named{Name: name, Log: log})
	}
	if len(named) == 0 {
		return nil, cli.Usagef("no log given: --model-A-jct-log, --model-B-jct-log or --log")
	}
	return named, nil
}

// names are those of the files, with their folders where files are called alike.
func names(paths []string) []string {
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

// newSweepPlot draws a sweep.
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
	f.StringVar(&from, "from", "", "a sweep, JSON (required)")
	f.StringVar(&what, "what", "jct", "jct or inflation")
	cli.Values(c, "what", "jct", "inflation")
	f.StringVar(&out, "out", name+".svg", "the image")
	cli.OutputFile(c, "out")
	cli.Require(c, "from")
	return c
}

func newQueuePlot() *cobra.Command {
	var from, out string
	c := &cobra.Command{
		Use:     "queue --from QUEUE.csv",
		Short:   "draw the launches in flight over time, as deft run --queue-log wrote them",
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
	c.Flags().StringVar(&from, "from", "", "the queue log, CSV (required)")
	c.Flags().StringVar(&out, "out", "queue.svg", "the image")
	cli.OutputFile(c, "out")
	cli.Require(c, "from")
	return c
}
