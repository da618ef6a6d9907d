package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/report"
	"github.com/foretime/foretime/deft/trial"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/dataset"
)

// newPlotCommand groups the plots.
func newPlotCommand(env *cli.Env) *cobra.Command {
	c := &cobra.Command{Use: "plot", Short: "draw an experiment, .svg or .png"}
	c.AddCommand(newTimeSeriesCommand(env), newCDFCommand(env), newIntervalsCommand(), newScatterCommand(), newQueueCommand())
	return c
}

// logFlags name logs: two by Deft's flags, or any number.
type logFlags struct {
	a, b  string
	more  []string
	title string
}

func (l *logFlags) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&l.a, "model-A-jct-log", "", "log of the first model")
	f.StringVar(&l.b, "model-B-jct-log", "", "log of the second model")
	f.StringSliceVar(&l.more, "log", nil, "further logs")
	f.StringVar(&l.title, "title", "Job completion time", "what the plot shows")
}

// load reads the logs and warns of rows that could not be read.
func (l *logFlags) load(env *cli.Env) ([]report.Named, error) {
	paths := slices.DeleteFunc(append([]string{l.a, l.b}, l.more...), func(path string) bool { return path == "" })
	var named []report.Named
	for i, name := range names(paths) {
		log, err := report.LoadLog(paths[i])
		if err != nil {
			return nil, err
		}
		for _, d := range log.Diagnostics {
			env.Log.Warn(d)
		}
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

func newTimeSeriesCommand(env *cli.Env) *cobra.Command {
	var l logFlags
	var out, dir string
	c := &cobra.Command{
		Use:     "jct-timeseries",
		Short:   "draw completion times over time",
		Example: `  deft plot jct-timeseries --model-A-jct-log logs/model_A.csv --model-B-jct-log logs/model_B.csv --out jct_vs_t.svg`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			logs, err := l.load(env)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(dir, "jct_vs_t.svg")
			}
			return chart.Save(out, report.TimeSeries(l.title, logs))
		},
	}
	l.flags(c)
	c.Flags().StringVar(&dir, "save-dir", ".", "folder for jct_vs_t.svg")
	c.Flags().StringVar(&out, "out", "", "the image, in place of SAVE-DIR/jct_vs_t.svg")
	return c
}

func newCDFCommand(env *cli.Env) *cobra.Command {
	var l logFlags
	var out string
	c := &cobra.Command{
		Use:   "cdf",
		Short: "draw the distribution of completion times",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			logs, err := l.load(env)
			if err != nil {
				return err
			}
			return chart.Save(out, report.CDF(l.title, logs))
		},
	}
	l.flags(c)
	c.Flags().StringVar(&out, "out", "jct_cdf.svg", "the image")
	return c
}

// sweepFlags name a sweep and what to show of it.
type sweepFlags struct {
	from, what, out string
}

func (s *sweepFlags) flags(c *cobra.Command, out string) {
	f := c.Flags()
	f.StringVar(&s.from, "from", "", "a sweep, JSON (required)")
	f.StringVar(&s.what, "what", "jct", "jct or inflation")
	f.StringVar(&s.out, "out", out, "the image")
	cli.Require(c, "from")
}

func (s *sweepFlags) load() (*trial.Sweep, trial.Measure, error) {
	measures := map[string]trial.Measure{"jct": trial.JCT, "inflation": trial.Inflation}
	m, ok := measures[s.what]
	if !ok {
		return nil, 0, cli.Usagef("--what: %q, want jct or inflation", s.what)
	}
	loaded, err := trial.LoadSweep(s.from)
	return loaded, m, err
}

func newIntervalsCommand() *cobra.Command {
	var s sweepFlags
	c := &cobra.Command{
		Use:   "intervals --from SWEEP.json",
		Short: "draw completion time or inflation against the synchronization interval",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			loaded, m, err := s.load()
			if err != nil {
				return err
			}
			return chart.Save(s.out, loaded.Intervals(m))
		},
	}
	s.flags(c, "intervals.svg")
	return c
}

func newScatterCommand() *cobra.Command {
	var s sweepFlags
	var x, y int
	c := &cobra.Command{
		Use:   "scatter --from SWEEP.json",
		Short: "draw one model of a sweep against another, a point for each interval",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			loaded, m, err := s.load()
			if err != nil {
				return err
			}
			figure, err := loaded.Scatter(x, y, m)
			if err != nil {
				return err
			}
			return chart.Save(s.out, figure)
		},
	}
	s.flags(c, "scatter.svg")
	c.Flags().IntVar(&x, "x", 0, "place of the model along, from 0")
	c.Flags().IntVar(&y, "y", 1, "place of the model upwards, from 0")
	return c
}

func newQueueCommand() *cobra.Command {
	var from, out string
	c := &cobra.Command{
		Use:   "queue --from QUEUE.csv",
		Short: "draw the launches in flight over time, as deft run --queue-log wrote them",
		Args:  cobra.NoArgs,
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
	cli.Require(c, "from")
	return c
}
