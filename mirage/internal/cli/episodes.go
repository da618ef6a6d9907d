package cli

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
)

// episodes holds the flags that select the simulated service pairs, and the settings of
// the cluster.
type episodes struct {
	*settings
	count             int
	interval, history span
	start             string
	caps              []int64 // of the simulation; nil is none
}

func (e *episodes) flags(c *cobra.Command, count int, interval span) {
	e.settings = newSettings()
	e.interval = interval
	e.history = 14 * 86400
	f := c.Flags()
	f.StringVar(&e.start, "start", "", "submission `date` of the first predecessor")
	f.IntVar(&e.count, "episodes", count, "number of service pairs to simulate")
	f.Var(&e.interval, "interval", "time between the submissions of two predecessors (4h, 1d)")
	f.Var(&e.history, "history", "time simulated before --start, beginning with an idle cluster")
	e.machineFlags(c)
}

// open reads a log and returns the plan of its episodes and their workload: all jobs,
// because late episodes need the arrivals after them.
func (e *episodes) open(env *cli.Env, path string, probes int) (t *trace.Trace, w *simulator.Workload, p samples.Plan, err error) {
	if t, err = e.settings.openWaits(env, path); err != nil {
		return t, w, p, err
	}
	config, err := e.config(t)
	if err != nil {
		return t, w, p, err
	}
	config.Caps = e.caps
	if p, err = e.plan(t, probes); err != nil {
		return t, w, p, err
	}
	if err = checkRoom(env, t, p); err == nil {
		w, err = simulator.NewWorkload(t.Jobs, config)
	}
	return t, w, p, err
}

// plan returns the episodes of a log. The priority of the service is the median of
// the jobs submitted before the first episode, if there are any.
func (e *episodes) plan(t *trace.Trace, probes int) (samples.Plan, error) {
	p := samples.Plan{Episodes: e.count, Probes: probes, Interval: int64(e.interval), History: int64(e.history)}
	var err error
	if p.Start, err = t.Date(e.start); err != nil {
		return p, cli.Usagef("--start: %w", err)
	}
	p.Service = e.service(t.Between(math.MinInt64, p.Start))
	if err := p.Check(); err != nil {
		return p, cli.Usagef("%w", err)
	}
	return p, nil
}

// checkRoom returns an error if the first episode is outside the log, and warns if the
// last ones reach past its end.
func checkRoom(env *cli.Env, t *trace.Trace, p samples.Plan) error {
	first, last := t.Jobs[0].Submit, t.Jobs[len(t.Jobs)-1].Submit
	if begin := p.Submit(0); begin < first || begin > last {
		return cli.Usagef("--start: the first episode begins at %s, but the log goes from %s to %s", t.Clock(begin), t.Clock(first), t.Clock(last))
	}
	if end := p.Submit(p.Episodes-1) + 2*p.Service.Limit; end > last {
		env.Log.Warnf("the last episodes end at %s, the log ends at %s: a successor that waits longer finds a queue without new jobs", t.Clock(end), t.Clock(last))
	}
	return nil
}
