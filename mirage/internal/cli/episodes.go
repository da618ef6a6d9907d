package cli

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/shared/cli"
)

// episodes are the flags that say which service pairs are played.
type episodes struct {
	count                    int
	interval, history, start string
	nodes                    int
	limit                    string
	priority                 float64
	priorityGiven            func() bool
	workers                  int
	seed                     uint64
}

func (e *episodes) flags(c *cobra.Command, count int, interval string) {
	f := c.Flags()
	f.IntVar(&e.count, "episodes", count, "service pairs to play")
	f.StringVar(&e.interval, "interval", interval, "time between two predecessors (4h, 1d)")
	f.StringVar(&e.start, "start", "", "when the first predecessor is submitted")
	f.StringVar(&e.history, "history", "14d", "time simulated before --start, from an idle machine")
	f.IntVar(&e.nodes, "service-nodes", 1, "nodes of the service")
	f.StringVar(&e.limit, "service-limit", "48h", "time limit of each service job, which it runs to")
	f.Float64Var(&e.priority, "service-priority", 0, "logged priority of the service jobs (default: the median of the jobs before --start)")
	e.priorityGiven = func() bool { return f.Changed("service-priority") }
	f.IntVar(&e.workers, "workers", runtime.GOMAXPROCS(0), "episodes played at once")
	f.Uint64Var(&e.seed, "seed", 1, "seed of whatever is random")
	cli.Require(c, "start")
}

// seconds reads a span such as 90s, 4h, 14d or 1d12h, or as sbatch writes it,
// such as 12:00:00 or 2-12:00:00.
func seconds(flag, s string) (int64, error) {
	if strings.Contains(s, ":") {
		if n, ok := trace.SlurmSeconds(s); ok {
			return n, nil
		}
	}
	text, days := s, int64(0)
	if d, rest, ok := strings.Cut(s, "d"); ok {
		n, err := strconv.ParseInt(d, 10, 32)
		if err != nil || n < 0 {
			return 0, noSpan(flag, s)
		}
		days, text = n, rest
	}
	if text == "" {
		return days * 86400, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, noSpan(flag, s)
	}
	return days*86400 + int64(d.Seconds()), nil
}

func noSpan(flag, s string) error {
	return cli.Usagef("--%s: %q is not a time such as 90m, 4h, 14d or 12:00:00", flag, s)
}

// plan builds the episodes of a trace. The priority of the service is the
// median of the jobs submitted before the first episode, where there are any.
func (e *episodes) plan(t *trace.Trace, probes int) (samples.Plan, error) {
	p := samples.Plan{Episodes: e.count, Probes: probes}
	var err error
	if p.Start, err = t.Date(e.start); err != nil {
		return p, cli.Usagef("--start: %w", err)
	}
	if p.Interval, err = seconds("interval", e.interval); err != nil {
		return p, err
	}
	if p.History, err = seconds("history", e.history); err != nil {
		return p, err
	}
	if p.Service, err = e.service(t, p.Start); err != nil {
		return p, err
	}
	if err := p.Check(); err != nil {
		return p, cli.Usagef("%w", err)
	}
	return p, nil
}

func (e *episodes) service(t *trace.Trace, start int64) (chain.Service, error) {
	limit, err := seconds("service-limit", e.limit)
	if err != nil {
		return chain.Service{}, err
	}
	priority := e.priority
	if !e.priorityGiven() {
		priority = trace.MedianPriority(t.Between(math.MinInt64, start))
	}
	return chain.Service{Nodes: e.nodes, Limit: limit, Priority: priority}, nil
}

// warm returns the jobs of a trace, ready to simulate: all of them, so that
// episodes late in the range see the arrivals after it.
func warm(t *trace.Trace, c simulator.Config) (*simulator.Workload, error) {
	return simulator.NewWorkload(t.Jobs, c)
}

// checkRoom refuses a first episode outside the trace, and warns where the
// last ones run into its end.
func checkRoom(env *cli.Env, t *trace.Trace, p samples.Plan) error {
	first, last := t.Jobs[0].Submit, t.Jobs[len(t.Jobs)-1].Submit
	if begin := p.Submit(0); begin < first || begin > last {
		return cli.Usagef("--start: the first episode begins at %s, the trace goes from %s to %s", clock(t, begin), clock(t, first), clock(t, last))
	}
	if end := p.Submit(p.Episodes-1) + 2*p.Service.Limit; end > last {
		env.Log.Warnf("the last episodes reach to %s, the trace ends at %s: a successor that waits beyond sees a queue that empties", clock(t, end), clock(t, last))
	}
	return nil
}

// trainingRange is the range of the settings file, or else everything before
// the first episode.
func trainingRange(t *trace.Trace, file *simulator.File, p samples.Plan) (from, to int64, err error) {
	from, to = t.Jobs[0].Submit, p.Start
	if file != nil && file.To > file.From {
		from, to = file.From, file.To
	}
	if to > p.Start {
		to = p.Start
	}
	if to-from < 2*p.Service.Limit+3*86400 {
		return 0, 0, fmt.Errorf("training range from %s to %s: too short to tune on; give --lead or a settings file with a longer range", clock(t, from), clock(t, to))
	}
	return from, to, nil
}
