package cli

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

// openWaits reads a log whose waits are to be predicted.
func (s *settings) openWaits(env *cli.Env, path string) (*trace.Trace, error) {
	t, err := s.open(env, path)
	if err != nil {
		return nil, err
	}
	if err := t.CheckWaits(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// open reads a log, - being standard input, and logs the rows that cannot be used.
func (s *settings) open(env *cli.Env, path string) (*trace.Trace, error) {
	if err := s.load(); err != nil {
		return nil, err
	}
	s.warn = env.Log.Warnf
	in := s.Log
	o := trace.Options{Partition: in.Partition, Cluster: in.Cluster}
	var err error
	if o.Unit, err = trace.ParseUnit(in.Unit); err != nil {
		return nil, cli.Usagef("log.unit: %w", err)
	}
	if in.Zone != "" {
		if o.Zone, err = time.LoadLocation(in.Zone); err != nil {
			return nil, cli.Usagef("log.zone: %w", err)
		}
	}
	var t *trace.Trace
	if path == "-" {
		t, err = trace.Read(file.Interruptible(env.Stdin), "standard input", o)
	} else {
		t, err = trace.Open(path, o)
	}
	if err != nil {
		return nil, err
	}
	env.Doubt(t.Doubt)
	cli.Warn(env, t.Bad)
	cli.Warn(env, t.Warnings)
	for _, reason := range slices.Sorted(maps.Keys(t.Skipped)) {
		env.Log.Infof("%s skipped: %s", plural.Count(t.Skipped[reason], "row"), reason)
	}
	if in.Before != "" {
		at, err := t.Date(in.Before)
		if err != nil {
			return nil, cli.Usagef("log.before: %w", err)
		}
		if t.Jobs = t.Between(math.MinInt64, at); len(t.Jobs) == 0 {
			return nil, fmt.Errorf("%s: %w submitted before %s", path, trace.ErrNoJobs, in.Before)
		}
	}
	return t, nil
}

// dates are --from and --to.
type dates struct{ from, to string }

func (d *dates) flags(c *cobra.Command) {
	c.Flags().StringVar(&d.from, "from", "", "begin of the submissions, a `date`, inclusive")
	c.Flags().StringVar(&d.to, "to", "", "end of the submissions, a `date`, exclusive")
}

// parse parses the dates, each of which may be "", in the log's time zone.
func (d dates) parse(t *trace.Trace) (lo, hi int64, err error) {
	lo, hi = t.Jobs[0].Submit, t.Jobs[len(t.Jobs)-1].Submit+1
	if d.from != "" {
		if lo, err = t.Date(d.from); err != nil {
			return 0, 0, cli.Usagef("--from: %w", err)
		}
	}
	if d.to != "" {
		if hi, err = t.Date(d.to); err != nil {
			return 0, 0, cli.Usagef("--to: %w", err)
		}
	}
	switch {
	case hi > lo:
		return lo, hi, nil
	case d.to == "":
		return 0, 0, cli.Usagef("--from %s: the last job of the log was submitted at %s", d.from, t.Clock(hi-1))
	case d.from == "":
		return 0, 0, cli.Usagef("--to %s: the log begins at %s", d.to, t.Clock(lo))
	}
	return 0, 0, cli.Usagef("--to: want a date after --from")
}

// jobs returns the dates and the jobs submitted between them, or in a history of some
// seconds before.
func (d dates) jobs(t *trace.Trace, history int64) (jobs []trace.Job, lo, hi int64, err error) {
	if lo, hi, err = d.parse(t); err == nil && len(t.Between(lo, hi)) == 0 {
		err = fmt.Errorf("%w submitted from %s to %s", trace.ErrNoJobs, t.Clock(lo), t.Clock(hi))
	}
	return t.Between(lo-history, hi), lo, hi, err
}
