package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/forecast"
	"github.com/foretime/foretime/mirage/internal/model"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
)

// settings describe the cluster, its scheduling rules, the log and a service, in one
// file for all commands. fit writes the first two.
type settings struct {
	simulator.File
	Log     logSettings        `json:"log"`
	Service serviceSettings    `json:"service"`
	Decide  decideSettings     `json:"decide"`
	Policy  map[string]float64 `json:"policy" help:"settings of baselines: lead_hours, quantile, wait_quantile"`
	Workers int                `json:"workers" help:"computations at once; the result does not depend on it (default: all CPUs)"`

	source *cli.Settings
	nodes  int // --nodes; 0: not given
	warn   func(format string, args ...any)
}

// logSettings say how a log is read.
type logSettings struct {
	Zone      string `json:"zone" help:"time zone of wall-clock times and of dates (default: America/Chicago for the Mirage layouts, else UTC)"`
	Partition string `json:"partition" help:"use only the jobs of this partition"`
	Cluster   string `json:"cluster" help:"use only the jobs of this cluster, of a log of several"`
	Unit      string `json:"unit" help:"unit in which jobs of a sacct log are counted: nodes, or cpus or gpus from AllocTRES"`
	Before    string `json:"before" help:"ignore jobs submitted on that day or later"`
}

// serviceSettings describe the jobs of a service.
type serviceSettings struct {
	Nodes    int     `json:"nodes" help:"nodes of the service"`
	Limit    span    `json:"limit" help:"time limit of each service job"`
	Time     span    `json:"time" help:"run time of each service job (default: its limit)"`
	Priority float64 `json:"priority" help:"logged priority of service jobs (default: the median of the jobs before --start)"`
	Name     string  `json:"name" help:"prefix of the job names"`
	Notice   span    `json:"notice" help:"time before the limit at which Slurm sends SIGTERM (sbatch --signal)"`
}

// decideSettings say when provision polls and decides.
type decideSettings struct {
	Interval       span    `json:"interval" help:"time between two decisions"`
	Poll           span    `json:"poll" help:"time between two queries of the queue (default: a fifth of the interval)"`
	RequestTimeout span    `json:"request_timeout" help:"longest time that a request to Slurm may take (default: twice its MessageTimeout)"`
	OverlapCost    float64 `json:"overlap_cost" help:"cost of an hour of overlap in hours of interruption; futures chooses the handover time by it"`
}

func newSettings() *settings {
	s := new(settings)
	s.reset(cluster.Slurm)
	s.source = cli.NewSettings(s)
	return s
}

// clusterSize returns the number of nodes that waits are predicted with; 0 is unknown. It
// ignores the cluster of a settings file. The peak use of the whole log is not used: it
// would reveal the future.
func (s *settings) clusterSize(t *trace.Trace) int {
	size := cmp.Or(s.nodes, t.Size)
	if size == 0 && s.source.Given("nodes") && !s.fromFile() {
		size = s.Nodes
	}
	return size
}

// reset sets the defaults.
func (s *settings) reset(d cluster.Discipline) {
	*s = settings{source: s.source, nodes: s.nodes, warn: s.warn}
	s.Rules = cluster.Defaults(d)
	s.Service = serviceSettings{Nodes: 1, Limit: 48 * 3600, Name: "service"}
	s.Decide = decideSettings{Interval: 600, OverlapCost: 1}
}

// flags adds --config and --set.
func (s *settings) flags(c *cobra.Command) { s.source.Flags(c) }

// machineFlags adds --config, --set and --nodes.
func (s *settings) machineFlags(c *cobra.Command) {
	s.flags(c)
	c.Flags().IntVar(&s.nodes, "nodes", 0, "nodes of the cluster, or processors if the log counts processors (default: from the settings, the log, or its peak use)")
}

// load reads the settings. Each scheduler has defaults of its own.
func (s *settings) load() error {
	s.reset(cluster.Slurm)
	err := s.source.Load()
	if err == nil && s.Discipline != cluster.Slurm {
		s.reset(s.Discipline)
		err = s.source.Load()
	}
	if err != nil {
		return err
	}
	if s.Workers <= 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	known := map[string]bool{}
	for _, b := range policy.Baselines() {
		if k := b.New.Knob; k != nil {
			known[k.Name] = true
		}
	}
	for name := range s.Policy {
		if !known[name] {
			return cli.Usagef("unknown setting \"policy.%s\": want one of %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return nil
}

// describesMachine reports whether the settings describe a cluster to simulate.
func (s *settings) describesMachine() bool { return s.source.Given("nodes") || s.source.Given("kinds") }

// fromFile reports whether the settings file describes the cluster.
func (s *settings) fromFile() bool { return s.source.File() != "" && s.describesMachine() }

// config returns the cluster and its rules for a log. The nodes come from the log if
// the settings do not give them.
func (s *settings) config(t *trace.Trace) (simulator.Config, error) {
	c := s.Config
	counted := t.Unit == trace.CPUs || t.Unit == trace.GPUs
	if !s.fromFile() && counted {
		c.Unit = t.Unit
	} else if counted && c.Unit != t.Unit || !counted && c.Unit != "" && c.Unit != trace.Nodes {
		return c, cli.Usagef("--config: the cluster is counted in %s, the log in %s: see log.unit", cmp.Or(c.Unit, trace.Nodes), t.Unit)
	}
	switch {
	case s.nodes != 0 && len(c.Kinds) > 0:
		return c, cli.Usagef("--nodes: not possible with the node kinds of --config")
	case s.nodes != 0:
		c.Nodes = s.nodes
	case c.Nodes == 0:
		if err := t.CheckSize(); err != nil {
			return c, cli.Usagef("%w; give it with --nodes or --set nodes=N", err)
		}
		c.Nodes = cmp.Or(t.Size, t.PeakNodes())
	}
	if err := c.Machine.Check(); err != nil {
		return c, cli.Usagef("%w", err)
	}
	if _, err := c.Plan(); err != nil {
		return c, cli.Usagef("%w", err)
	}
	if peak := t.PeakNodes(); peak > c.Nodes && t.Size == 0 { // a log with a size has warned before
		s.warn("the log has %d %s in use at once, but the cluster has %d", peak, t.Unit, c.Nodes)
	}
	return c, nil
}

// service returns the service of the settings. before are the jobs before the first
// episode, which give the default priority.
func (s *settings) service(before []trace.Job) chain.Service {
	v := s.Service
	priority := v.Priority
	if !s.source.Given("service.priority") {
		priority = trace.MedianPriority(before)
	}
	return chain.Service{Nodes: v.Nodes, Limit: int64(v.Limit), Priority: priority}
}

// decider is a policy with its settings.
type decider struct {
	policy.Policy
	settings  map[string]any
	forecasts bool
	trained   *model.Model // nil for a baseline
}

// decider returns the policy of --model: a baseline with its setting, for a cost of an
// hour of overlap in hours of interruption, or the model of a file. others are further
// names that the caller accepts.
func (s *settings) decider(name string, overlap float64, others ...string) (decider, error) {
	b, err := policy.Baselines().Find(name)
	if err != nil {
		if _, err := os.Stat(name); err != nil {
			names := append(policy.Baselines().Names(), others...)
			return decider{}, cli.Usagef("--model %s: not a baseline (%s), and no such model file: %w", name, strings.Join(names, ", "), err)
		}
		m, err := model.Load(name)
		if err != nil {
			return decider{}, err
		}
		return decider{Policy: m, settings: map[string]any{"kind": m.Kind, "from_hours": m.FromHours}, forecasts: true, trained: m}, nil
	}
	d := decider{forecasts: b.Forecasts}
	setting := 0.0
	if k := b.Knob; k != nil {
		given := false
		switch setting, given = s.Policy[k.Name]; {
		case given:
			if err := k.Check(setting); err != nil {
				return d, cli.Usagef("%w", err)
			}
		case k.AtCost != nil:
			setting = k.AtCost(overlap)
		case k.Required:
			return d, cli.Usagef("--model %s needs --set policy.%s=: %s", name, k.Name, k.Help)
		default:
			setting = k.Default
		}
		d.settings = map[string]any{k.Name: setting}
	}
	d.Policy = b.Policy(setting)
	return d, nil
}

// span is a number of seconds, written as 90s, 4h, 14d or 1d12h, or as in sbatch: 90
// (minutes), 12:00:00 or 2-12. It is a flag and a setting.
type span int64

func (s span) String() string {
	if s == forecast.NoLimit {
		return ""
	}
	return trace.Span(int64(s))
}

// Set parses a flag.
func (s *span) Set(text string) error {
	n, err := seconds(text)
	*s = span(n)
	return err
}

// Type returns the name of the type in the help.
func (s *span) Type() string { return "duration" }

// UnmarshalJSON parses a setting.
func (s *span) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		text = string(b)
	}
	return s.Set(text)
}

func (s span) duration() time.Duration { return time.Duration(s) * time.Second }

func seconds(s string) (int64, error) {
	if n, ok := trace.SlurmSeconds(s); ok {
		return n, nil
	}
	days, text, ok := strings.Cut(s, "d")
	if !ok {
		days, text = "0", s
	}
	n, err1 := strconv.ParseInt(days, 10, 32)
	if text == "" && n > 0 {
		text = "0s"
	}
	d, err2 := time.ParseDuration(text)
	if err1 != nil || err2 != nil || n < 0 || d < 0 {
		return 0, fmt.Errorf("%q is not a time such as 90m, 4h, 14d, or in Slurm's form 90, 12:00:00 or 1-12", s)
	}
	return n*86400 + int64(d.Seconds()), nil
}

// checkLevel returns an error unless a level of intervals is between 0 and 1, and not so near
// to one of them that nothing seen could tell it.
func checkLevel(level float64) error {
	if !(level >= 0.01 && level <= 0.999) {
		return cli.Usagef("--level: %v, want a number between 0 and 1: from 0.01 to 0.999", level)
	}
	return nil
}
