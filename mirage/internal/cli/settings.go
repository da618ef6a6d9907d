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
	"github.com/foretime/foretime/mirage/internal/model"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
)

// settings are what describes the machine, its rules, the log and a service, in
// one file for all commands: what calibrate writes, and more.
type settings struct {
	simulator.File
	Down    outages            `json:"down" help:"spans in which nodes are down: FROM,TO,NODES, or a list of {from, to, nodes}"`
	Log     logSettings        `json:"log"`
	Service serviceSettings    `json:"service"`
	Decide  decideSettings     `json:"decide"`
	Policy  map[string]float64 `json:"policy" help:"of baselines, by name: lead_hours, quantile, weight_of_full_limits, wait_quantile"`
	Workers int                `json:"workers" help:"what is computed at once, without changing the outcome (default: all processors)"`

	source *cli.Settings
	nodes  int // --nodes; 0 is not given
	warn   func(format string, args ...any)
}

// logSettings say how a log is read.
type logSettings struct {
	Layout       trace.Layout `json:"layout" help:"mirage, swf, csv or sacct (default: by the look of the file)"`
	Zone         string       `json:"zone" help:"time zone of wall-clock times and of dates (default: America/Chicago for the Mirage layouts, else UTC)"`
	Partition    string       `json:"partition" help:"keep the jobs of one partition"`
	ProcsPerNode int          `json:"procs_per_node" help:"processors of a node, for SWF (default: as its header says, or 1)"`
	Unit         string       `json:"unit" help:"what a sacct log's jobs are counted in: nodes, or cpus or gpus by AllocTRES"`
	Before       string       `json:"before" help:"forget the jobs submitted on that day or later, before the load is scaled"`
	Load         float64      `json:"load" help:"1.1 brings the submissions 10 % closer together"`
}

// serviceSettings describe the jobs of a service.
type serviceSettings struct {
	Nodes     int     `json:"nodes" help:"nodes of the service"`
	Limit     span    `json:"limit" help:"time limit of each service job"`
	Time      span    `json:"time" help:"how long a service job runs (default: its limit)"`
	Priority  float64 `json:"priority" help:"logged priority (default: the median of the jobs before --start)"`
	Name      string  `json:"name" help:"beginning of the job names"`
	Notice    span    `json:"notice" help:"send SIGTERM so long before the limit (sbatch --signal)"`
	CPUs      int     `json:"cpus" help:"CPUs on all its nodes, where nodes are of kinds"`
	GPUs      int     `json:"gpus" help:"GPUs, likewise"`
	MemoryMB  int64   `json:"memory_mb" help:"memory, likewise"`
	Exclusive bool    `json:"exclusive" help:"it shares its nodes with nobody"`
	Units     int     `json:"units" help:"what it holds of what the machine is counted in, such as GPUs (default: its nodes)"`
}

// decideSettings say how provision looks at the queue.
type decideSettings struct {
	Interval       span    `json:"interval" help:"time between two decisions"`
	Poll           span    `json:"poll" help:"time between two looks at the queue (default: a fifth of the interval)"`
	RequestTimeout span    `json:"request_timeout" help:"how long a request may be under way (default: twice the controller's MessageTimeout)"`
	OverlapCost    float64 `json:"overlap_cost" help:"cost of an hour of overlap against one of interruption, by which futures chooses the time of the handover"`
	TimeScale      float64 `json:"time_scale"` // for tests: the policy sees every time multiplied by this
}

func newSettings() *settings {
	s := new(settings)
	s.reset(cluster.Slurm)
	s.source = cli.NewSettings(s)
	return s
}

// reset sets what holds where nothing is said.
func (s *settings) reset(d cluster.Discipline) {
	*s = settings{source: s.source, nodes: s.nodes, warn: s.warn}
	s.Rules = cluster.Defaults(d)
	s.Log.Load = 1
	s.Service = serviceSettings{Nodes: 1, Limit: 48 * 3600, Name: "service"}
	s.Decide = decideSettings{Interval: 600, OverlapCost: 1, TimeScale: 1}
}

// flags are --config and --set.
func (s *settings) flags(c *cobra.Command) { s.source.Flags(c) }

// machineFlags are those and --nodes.
func (s *settings) machineFlags(c *cobra.Command) {
	s.flags(c)
	c.Flags().IntVar(&s.nodes, "nodes", 0, "nodes of the cluster, or processors where the log counts those (default: the settings', the log's, or the most in use at once)")
}

// load reads what was given. Another scheduler has other rules where nothing is
// said of them.
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

// describesMachine says that a machine was described, so that it can be simulated.
func (s *settings) describesMachine() bool { return s.source.Given("nodes") || s.source.Given("kinds") }

// fromFile says that a file describes the machine.
func (s *settings) fromFile() bool { return s.source.File() != "" && s.describesMachine() }

// config is the machine and its rules for a log. What the log says of its nodes
// counts where the settings say nothing.
func (s *settings) config(t *trace.Trace) (simulator.Config, error) {
	c := s.Config
	counted := t.Unit == trace.CPUs || t.Unit == trace.GPUs
	if !s.fromFile() && counted {
		c.Unit = t.Unit
	} else if counted && c.Unit != t.Unit || !counted && c.Unit != "" && c.Unit != trace.Nodes {
		return c, cli.Usagef("--config: its machine is counted in %s, the log in %s: see log.unit", cmp.Or(c.Unit, trace.Nodes), t.Unit)
	}
	if s.nodes == 0 && !s.describesMachine() && t.Placed() {
		c.Kinds = kindsOf(t.Machines)
	}
	if len(c.Kinds) > 0 {
		t.OnNodes()
	}
	var err error
	if c.Down, err = s.Down.windows(t.Date); err != nil {
		return c, err
	}
	switch {
	case s.nodes != 0 && len(c.Kinds) > 0:
		return c, cli.Usagef("--nodes: the nodes of --config are of kinds")
	case s.nodes != 0 && s.fromFile():
		c.Machine = c.Resized(s.nodes)
	case s.nodes != 0:
		c.Nodes = s.nodes
	case c.Nodes == 0:
		c.Nodes = cmp.Or(t.Size, t.PeakNodes())
	}
	if err := c.Machine.Check(); err != nil {
		return c, cli.Usagef("%w", err)
	}
	if _, err := c.Plan(); err != nil {
		return c, cli.Usagef("%w", err)
	}
	if peak := t.PeakNodes(); peak > c.Nodes && t.Size == 0 { // of a size of its own the log has told
		s.warn("%d %s are in use at once in the log, of a machine of %d", peak, t.Unit, c.Nodes)
	}
	return c, nil
}

// kindsOf are the nodes of a file of machines beside a log.
func kindsOf(machines []trace.Machines) (kinds []cluster.Kind) {
	for _, g := range machines {
		kinds = append(kinds, cluster.Kind{Name: g.Name, Nodes: g.Nodes, CPUs: g.CPUs, MemoryMB: g.MemoryMB, Partitions: []string{g.Name}})
	}
	return kinds
}

// service is the service of the settings, in a log that knows priorities up to the
// first episode.
func (s *settings) service(before []trace.Job) chain.Service {
	v := s.Service
	priority := v.Priority
	if !s.source.Given("service.priority") {
		priority = trace.MedianPriority(before)
	}
	return chain.Service{Nodes: v.Nodes, Limit: int64(v.Limit), Priority: priority}
}

// decider is a policy that a name stands for.
type decider struct {
	policy.Policy
	settings  map[string]any
	forecasts bool
	untuned   *policy.Baseline // whose setting follows from nothing that is known
	trained   *model.Model     // nil where it is a baseline
}

// decider is what --model names: a baseline with its setting, where an hour of overlap
// costs so many of interruption, or the file of a model; others are names too, which
// are the caller's own.
func (s *settings) decider(name string, overlap float64, others ...string) (decider, error) {
	b, err := policy.Baselines().Find(name)
	if err != nil {
		if _, err := os.Stat(name); err != nil {
			names := append(policy.Baselines().Names(), others...)
			return decider{}, cli.Usagef("--model %s: neither a baseline (%s) nor a model file: %w", name, strings.Join(names, ", "), err)
		}
		m, err := model.Load(name)
		if err != nil {
			return decider{}, err
		}
		return decider{Policy: m, settings: map[string]any{"kind": m.Kind, "from_hours": m.FromHours}, forecasts: m.NeedsForecast(), trained: m}, nil
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
		default:
			setting, d.untuned = k.Default, &b
		}
		d.settings = map[string]any{k.Name: setting}
	}
	d.Policy = b.Policy(setting)
	return d, nil
}

// span is seconds, written as 90s, 4h, 14d or 1d12h, or as sbatch writes it, such
// as 90, which is minutes, 12:00:00 or 2-12. It is a flag and a setting.
type span int64

func (s span) String() string {
	switch n := int64(s); {
	case n%86400 == 0 && n >= 3*86400:
		return fmt.Sprintf("%dd", n/86400)
	case n%3600 == 0 && n > 0:
		return fmt.Sprintf("%dh", n/3600)
	case n%60 == 0 && n > 0:
		return fmt.Sprintf("%dm", n/60)
	}
	return fmt.Sprintf("%ds", int64(s))
}

// Set makes it a flag.
func (s *span) Set(text string) error {
	n, err := seconds(text)
	*s = span(n)
	return err
}

// Type names it in help.
func (s *span) Type() string { return "time" }

// UnmarshalJSON makes it a setting.
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
		return 0, fmt.Errorf("%q is not a time such as 90m, 4h, 14d, or as Slurm writes it 90, 12:00:00 or 1-12", s)
	}
	return n*86400 + int64(d.Seconds()), nil
}

// outages are spans in which nodes are down; FROM,TO,NODES adds one.
type outages []outage

// outage is a span with times as the log's clock shows them, or in Unix seconds.
type outage struct {
	From  instant `json:"from"`
	To    instant `json:"to"`
	Nodes int     `json:"nodes"`
}

// instant is a time as it is written.
type instant string

// UnmarshalJSON takes a number too, and a date as YAML has it.
func (i *instant) UnmarshalJSON(b []byte) error {
	*i = instant(strings.TrimSuffix(strings.Trim(string(b), `"`), "Z"))
	return nil
}

// UnmarshalJSON takes a list of outages, or the text of one more.
func (o *outages) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		return json.Unmarshal(b, (*[]outage)(o))
	}
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return fmt.Errorf("%q: want FROM,TO,NODES", text)
	}
	n, err := strconv.Atoi(parts[2])
	if err != nil {
		return fmt.Errorf("%q nodes: want FROM,TO,NODES", parts[2])
	}
	*o = append(*o, outage{instant(parts[0]), instant(parts[1]), n})
	return nil
}

// windows are the outages by a clock that reads dates.
func (o outages) windows(date func(string) (int64, error)) (down []cluster.Window, err error) {
	read := func(i instant) (int64, error) {
		if n, err := strconv.ParseInt(string(i), 10, 64); err == nil {
			return n, nil
		}
		n, err := date(string(i))
		if err != nil {
			return 0, cli.Usagef("down: %w", err)
		}
		return n, nil
	}
	for _, out := range o {
		from, err1 := read(out.From)
		to, err2 := read(out.To)
		if err := cmp.Or(err1, err2); err != nil {
			return nil, err
		}
		down = append(down, cluster.Window{From: from, To: to, Nodes: out.Nodes})
	}
	return down, nil
}
