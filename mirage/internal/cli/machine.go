package cli

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/cluster"
	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/shared/cli"
)

// machine are the flags that describe a cluster and its scheduler. A flag
// that is given overrides the config file, which overrides the defaults.
type machine struct {
	nodes, userLimit, depth, maxJobTest int
	scheduler                           string
	logged                              bool
	age, maxAge, size, fairShare, half  float64
	interval, window, resolution        int64
	down                                []string
	file                                string // settings file
	changed                             func(string) bool
}

// sizeFlags are those of commands that simulate nothing.
func (m *machine) sizeFlags(c *cobra.Command) {
	f := c.Flags()
	m.changed, m.scheduler = f.Changed, string(cluster.Slurm)
	f.StringVar(&m.file, "config", "", "settings file, as calibrate writes it; other flags override it")
	f.IntVar(&m.nodes, "nodes", 0, "nodes of the cluster, or processors where the trace counts those (default: as the trace says, or the most in use at once)")
}

func (m *machine) flags(c *cobra.Command) {
	m.sizeFlags(c)
	f := c.Flags()
	f.StringVar(&m.scheduler, "scheduler", string(cluster.Slurm), "discipline of the queue: "+strings.Join(cluster.Disciplines().Names(), ", "))
	f.IntVar(&m.userLimit, "user-limit", 0, "jobs a user may run at once (0: no limit)")
	f.BoolVar(&m.logged, "logged-priority", false, "add the priority in the log to each job's own")
	f.Float64Var(&m.age, "age-weight", 0, "priority points for the greatest age (slurm: 7000)")
	f.Float64Var(&m.maxAge, "max-age-days", 0, "greatest age that counts, in days (default 7)")
	f.Float64Var(&m.size, "size-weight", 0, "priority points of a job as large as the machine (slurm: 100)")
	f.Float64Var(&m.fairShare, "fair-share-weight", 0, "priority points of a user without usage (default 0)")
	f.Float64Var(&m.half, "half-life-days", 7, "half-life of usage for the fair share, in days")
	f.IntVar(&m.depth, "queue-depth", 0, "jobs the strict pass looks at (slurm: 1000)")
	f.Int64Var(&m.interval, "bf-interval", 0, "seconds between backfill passes (slurm: 30)")
	f.Int64Var(&m.window, "bf-window", 0, "minutes a backfill pass plans ahead (slurm: 2880)")
	f.Int64Var(&m.resolution, "bf-resolution", 0, "seconds of a slot of the backfill plan (0: exact)")
	f.IntVar(&m.maxJobTest, "bf-max-job-test", 0, "jobs a backfill pass looks at (slurm: 1000)")
	f.StringArrayVar(&m.down, "down", nil, "FROM,TO,NODES: nodes that are down in a span (may be repeated)")
}

// config builds the settings. The file is nil where none was named.
func (m *machine) config(t *trace.Trace) (simulator.Config, *simulator.File, error) {
	var file *simulator.File
	c := simulator.Config{Rules: cluster.Defaults(cluster.Discipline(m.scheduler))}
	if m.file != "" {
		var err error
		if file, err = simulator.Load(m.file); err != nil {
			return c, nil, err
		}
		c = file.Config
		if m.changed("scheduler") && string(c.Discipline) != m.scheduler {
			rules := cluster.Defaults(cluster.Discipline(m.scheduler))
			rules.UserLimit, rules.LoggedPriority = c.UserLimit, c.LoggedPriority
			c.Rules = rules
		}
	}
	if counted := t.Unit == trace.CPUs || t.Unit == trace.GPUs; file == nil && counted {
		c.Unit = t.Unit
	} else if counted && c.Unit != t.Unit || !counted && c.Unit != "" && c.Unit != trace.Nodes {
		return c, file, cli.Usagef("--config: its machine is counted in %s, the log in %s: see --unit", cmp.Or(c.Unit, trace.Nodes), t.Unit)
	}
	if file == nil && !m.changed("nodes") && t.Placed() {
		c.Kinds = kindsOf(t.Machines)
	}
	if len(c.Kinds) > 0 {
		t.OnNodes()
	}
	if m.changed("nodes") {
		if len(c.Kinds) > 0 {
			return c, file, cli.Usagef("--nodes: the nodes of --config are of kinds")
		}
		c.Machine = c.Resized(m.nodes)
	} else if c.Nodes == 0 {
		c.Nodes = cmp.Or(t.Size, t.PeakNodes())
	}
	for _, f := range []struct {
		name string
		set  func()
	}{
		{"user-limit", func() { c.UserLimit = m.userLimit }},
		{"logged-priority", func() { c.LoggedPriority = m.logged }},
		{"age-weight", func() { c.Weights.Age = m.age }},
		{"max-age-days", func() { c.Weights.MaxAgeDays = m.maxAge }},
		{"size-weight", func() { c.Weights.Size = m.size }},
		{"fair-share-weight", func() { c.Weights.FairShare, c.Weights.HalfLifeDays = m.fairShare, m.half }},
		{"queue-depth", func() { c.QueueDepth = m.depth }},
		{"bf-interval", func() { c.Backfill.IntervalSeconds = m.interval }},
		{"bf-window", func() { c.Backfill.WindowMinutes = m.window }},
		{"bf-resolution", func() { c.Backfill.ResolutionSeconds = m.resolution }},
		{"bf-max-job-test", func() { c.Backfill.MaxJobTest = m.maxJobTest }},
	} {
		if m.changed(f.name) {
			f.set()
		}
	}
	for _, spec := range m.down {
		w, err := downWindow(t, spec)
		if err != nil {
			return c, file, err
		}
		c.Down = append(c.Down, w)
	}
	if err := c.Machine.Check(); err != nil {
		return c, file, cli.Usagef("%w", err)
	}
	if _, err := c.Plan(); err != nil {
		return c, file, cli.Usagef("%w", err)
	}
	return c, file, nil
}

// kindsOf are the nodes that a file of machines beside a log tells of.
func kindsOf(machines []trace.Machines) (kinds []cluster.Kind) {
	for _, g := range machines {
		kinds = append(kinds, cluster.Kind{Name: g.Name, Nodes: g.Nodes, CPUs: g.CPUs, MemoryMB: g.MemoryMB, Partitions: []string{g.Name}})
	}
	return kinds
}

func downWindow(t *trace.Trace, spec string) (cluster.Window, error) {
	parts := strings.Split(spec, ",")
	if len(parts) != 3 {
		return cluster.Window{}, cli.Usagef("--down %q: want FROM,TO,NODES", spec)
	}
	from, err := t.Date(parts[0])
	if err != nil {
		return cluster.Window{}, cli.Usagef("--down: %w", err)
	}
	to, err := t.Date(parts[1])
	if err != nil {
		return cluster.Window{}, cli.Usagef("--down: %w", err)
	}
	n, err := strconv.Atoi(parts[2])
	if err != nil {
		return cluster.Window{}, cli.Usagef("--down: %q nodes", parts[2])
	}
	return cluster.Window{From: from, To: to, Nodes: n}, nil
}

// workload opens a trace and sets up the jobs submitted within a range, and
// those of a history in seconds before it, on the cluster that the flags
// describe.
func (m *machine) workload(env *cli.Env, in *input, path, from, to string, history int64) (*trace.Trace, *simulator.Workload, simulator.Config, error) {
	t, err := in.open(env, path)
	if err != nil {
		return nil, nil, simulator.Config{}, err
	}
	config, _, err := m.config(t)
	if err != nil {
		return nil, nil, simulator.Config{}, err
	}
	jobs, err := selected(t, from, to, history)
	if err != nil {
		return nil, nil, simulator.Config{}, err
	}
	w, err := simulator.NewWorkload(jobs, config)
	return t, w, config, err
}
