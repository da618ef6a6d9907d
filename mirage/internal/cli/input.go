package cli

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/shared/cli"
)

// input are the flags that say how a trace file is read.
type input struct {
	layout, zone, partition string
	before                  string
	procsPerNode            int
	unit                    string
	load                    float64
}

func (in *input) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&in.layout, "layout", "", "layout of the trace: "+strings.Join(trace.Layouts().Names(), ", ")+" (default: look at it)")
	f.StringVar(&in.zone, "zone", "", "time zone of wall-clock times and of dates (default: "+trace.DefaultZone+" for the Mirage layouts, else UTC)")
	f.StringVar(&in.partition, "partition", "", "keep the jobs of one partition only")
	f.IntVar(&in.procsPerNode, "procs-per-node", 0, "processors of a node, for SWF (default: as the header says, or 1)")
	f.StringVar(&in.unit, "unit", "", "what a sacct log's jobs are counted in: nodes, or cpus or gpus by AllocTRES, where jobs share nodes")
	f.StringVar(&in.before, "before", "", "forget the jobs submitted on that day or later, before --load is applied")
	f.Float64Var(&in.load, "load", 1, "scale the load: 1.1 brings the submissions 10 % closer together")
}

// open reads a trace and tells what could not be used.
func (in *input) open(env *cli.Env, path string) (*trace.Trace, error) {
	o := trace.Options{Layout: trace.Layout(in.layout), ProcsPerNode: in.procsPerNode, Partition: in.partition}
	var err error
	if o.Unit, err = trace.ParseUnit(in.unit); err != nil {
		return nil, cli.Usagef("--unit: %w", err)
	}
	if in.zone != "" {
		zone, err := time.LoadLocation(in.zone)
		if err != nil {
			return nil, cli.Usagef("--zone: %w", err)
		}
		o.Zone = zone
	}
	t, err := in.read(env, path, o)
	if err != nil {
		return nil, err
	}
	for i, bad := range t.Bad {
		if i == 5 {
			env.Log.Warnf("%d more rows could not be used", len(t.Bad)-i)
			break
		}
		env.Log.Warn(bad)
	}
	for _, w := range t.Warnings {
		env.Log.Warn(w)
	}
	reasons := make([]string, 0, len(t.Skipped))
	for reason := range t.Skipped {
		reasons = append(reasons, reason)
	}
	sort.Strings(reasons)
	for _, reason := range reasons {
		env.Log.Infof("%d rows skipped: %s", t.Skipped[reason], reason)
	}
	if in.before != "" {
		at, err := t.Date(in.before)
		if err != nil {
			return nil, cli.Usagef("--before: %w", err)
		}
		if t.Jobs = t.Between(math.MinInt64, at); len(t.Jobs) == 0 {
			return nil, fmt.Errorf("%s: %w submitted before %s", path, trace.ErrNoJobs, in.before)
		}
	}
	if in.load != 1 {
		if t.Jobs, err = trace.ScaleLoad(t.Jobs, in.load); err != nil {
			return nil, cli.Usagef("--load: %w", err)
		}
	}
	return t, nil
}

// read reads a file, or standard input where it is named -.
func (in *input) read(env *cli.Env, path string, o trace.Options) (*trace.Trace, error) {
	if path == "-" {
		return trace.Read(env.Stdin, "standard input", o)
	}
	return trace.Open(path, o)
}

// between reads two dates, each of which may be "", in the trace's zone.
func between(t *trace.Trace, from, to string) (lo, hi int64, err error) {
	lo, hi = t.Jobs[0].Submit, t.Jobs[len(t.Jobs)-1].Submit+1
	if from != "" {
		if lo, err = t.Date(from); err != nil {
			return 0, 0, cli.Usagef("--from: %w", err)
		}
	}
	if to != "" {
		if hi, err = t.Date(to); err != nil {
			return 0, 0, cli.Usagef("--to: %w", err)
		}
	}
	switch {
	case hi > lo:
		return lo, hi, nil
	case to == "":
		return 0, 0, cli.Usagef("--from %s: the last job of the log was submitted at %s", from, clock(t, hi-1))
	case from == "":
		return 0, 0, cli.Usagef("--to %s: the log begins at %s", to, clock(t, lo))
	}
	return 0, 0, cli.Usagef("--to is not after --from")
}

// selected returns the jobs submitted between two dates, and those submitted
// so many seconds before.
func selected(t *trace.Trace, from, to string, history int64) ([]trace.Job, error) {
	lo, hi, err := between(t, from, to)
	if err != nil {
		return nil, err
	}
	if len(t.Between(lo, hi)) == 0 {
		return nil, fmt.Errorf("%w: none submitted from %s to %s", trace.ErrNoJobs, clock(t, lo), clock(t, hi))
	}
	return t.Between(lo-history, hi), nil
}

// clock spells an instant in the trace's zone.
func clock(t *trace.Trace, unix int64) string {
	return time.Unix(unix, 0).In(t.Zone).Format("2006-01-02 15:04:05")
}
