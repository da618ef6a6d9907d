package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/plural"
)

// Kind is a group of equal nodes, which jobs share.
type Kind struct {
	Name     string `json:"name"`
	Nodes    int    `json:"nodes"`
	CPUs     int    `json:"cpus"` // of a node, as the next two
	GPUs     int    `json:"gpus,omitempty"`
	MemoryMB int64  `json:"memory_mb,omitempty"` // 0 does not count memory
	// Partitions lists the partitions that the nodes are in; none is all.
	Partitions []string `json:"partitions,omitempty"`
}

// Partition holds the limits of a partition; an unlisted one has none.
type Partition struct {
	Name       string `json:"name"`
	MaxSeconds int64  `json:"max_seconds,omitempty"` // of a job's limit; 0 is any
	MaxNodes   int    `json:"max_nodes,omitempty"`   // of a job; 0 is any
	// Tier goes before all priorities (slurm.conf(5), PriorityTier).
	Tier int `json:"priority_tier,omitempty"`
}

// The resources of a node, in the order of an Amount.
const (
	cpus = iota
	gpus
	memory // MB
)

// Amount is an amount of each resource of a node: CPUs, GPUs, MB of memory.
type Amount [3]int64

// covers says that there is at least as much of everything.
func (a Amount) covers(b Amount) bool {
	return a[cpus] >= b[cpus] && a[gpus] >= b[gpus] && a[memory] >= b[memory]
}

func (a *Amount) add(b Amount, times int64) {
	for i := range a {
		a[i] += times * b[i]
	}
}

// Share is the part of each of its nodes that a job takes, on a machine with kinds of nodes.
type Share struct {
	Per   Amount
	Whole bool // all of it: the node must be idle
	// In says of each node whether it is in one of the job's partitions; nil is any.
	In         []bool
	partitions []string // nil is any
	// Only lists the nodes that the job may run on, ascending; nil is any.
	Only []int32
}

// Place holds the nodes of a job.
type Place struct {
	On    []int32 // nodes, by number in the order of the kinds
	Share *Share
	CPUs  int32 // in all
}

// Layout describes each node of a machine with nodes of several kinds.
type Layout struct {
	nodes      []Amount
	members    map[string][]bool // nodes of each partition
	partitions map[string]Partition
}

// checkKinds returns an error that wraps ErrMachine where kinds and partitions
// make no sense.
func (m Machine) checkKinds() error {
	nodes := 0
	for _, k := range m.Kinds {
		if k.Nodes < 1 || k.Nodes > 1<<24 || k.CPUs < 1 || k.GPUs < 0 || k.MemoryMB < 0 {
			return fmt.Errorf("%w: kind %q has %d nodes of %d CPUs, %d GPUs, %d MB", ErrMachine, k.Name, k.Nodes, k.CPUs, k.GPUs, k.MemoryMB)
		}
		nodes += k.Nodes
	}
	switch {
	case len(m.Kinds) == 0 && len(m.Partitions) > 0:
		return fmt.Errorf("%w: partitions need kinds, which list their nodes", ErrMachine)
	case len(m.Kinds) == 0:
		return nil
	case nodes != m.Nodes:
		return fmt.Errorf("%w: %d nodes, but %d in its kinds", ErrMachine, m.Nodes, nodes)
	case m.Unit != "" && m.Unit != trace.Nodes:
		return fmt.Errorf("%w: a cluster with kinds is not counted in %s", ErrMachine, m.Unit)
	}
	for _, p := range m.Partitions {
		if p.MaxSeconds < 0 || p.MaxNodes < 0 || p.Tier < 0 || p.Tier > math.MaxUint16 {
			return fmt.Errorf("%w: partition %q: max_seconds, max_nodes or priority_tier out of range", ErrMachine, p.Name)
		}
	}
	return nil
}

// Layout returns the machine node by node; nil for one without kinds, of which nodes are only
// counted.
func (m Machine) Layout() *Layout {
	if len(m.Kinds) == 0 {
		return nil
	}
	l := &Layout{members: map[string][]bool{}, partitions: map[string]Partition{}}
	for _, p := range m.Partitions {
		l.partitions[p.Name], l.members[p.Name] = p, make([]bool, m.Nodes)
	}
	for _, k := range m.Kinds {
		for _, p := range k.Partitions {
			l.members[p] = make([]bool, m.Nodes)
		}
	}
	for _, k := range m.Kinds {
		has := Amount{int64(k.CPUs), int64(k.GPUs), cmp.Or(k.MemoryMB, math.MaxInt32)}
		for range k.Nodes {
			for p, in := range l.members {
				in[len(l.nodes)] = len(k.Partitions) == 0 || slices.Contains(k.Partitions, p)
			}
			l.nodes = append(l.nodes, has)
		}
	}
	return l
}

// Share returns the part of each of its nodes that a job takes, the same of all, and the tier
// of its partition, the highest if it may run in several. The error wraps ErrOversize if the
// job can never start.
func (l *Layout) Share(j *trace.Job) (*Share, int, error) {
	s, tier, err := l.sharePartitions(j)
	if err != nil {
		return nil, 0, err
	}
	if n := j.Need; n == nil || n.Exclusive {
		s.Whole = true
	} else {
		each := func(total int64) int64 { return (total + int64(j.Nodes) - 1) / int64(max(j.Nodes, 1)) }
		s.Per = Amount{max(each(int64(n.CPUs)), 1), each(int64(n.GPUs)), each(n.MemoryMB)}
	}
	if j.Need != nil {
		s.Only = j.Need.Only
	}
	fit := len(l.Fitting(s))
	if j.Nodes < 1 || j.Nodes > fit {
		return nil, 0, fmt.Errorf("%w: want %s with %d CPUs, %d GPUs, %d MB each, there are %d", ErrOversize, plural.Count(j.Nodes, "node"), s.Per[cpus], s.Per[gpus], s.Per[memory], fit)
	}
	return s, tier, nil
}

// sharePartitions returns the nodes that a job may run on: those of its partitions that have nodes and
// allow its limit and its size.
func (l *Layout) sharePartitions(j *trace.Job) (*Share, int, error) {
	if j.Partition == "" {
		return &Share{}, 0, nil
	}
	s := &Share{}
	tier := 0
	known := false
	for name := range strings.SplitSeq(j.Partition, ",") {
		p := l.partitions[name]
		in, found := l.members[name]
		known = known || found
		if p.MaxSeconds > 0 && j.Limit > p.MaxSeconds || p.MaxNodes > 0 && j.Nodes > p.MaxNodes {
			continue
		}
		if !found {
			continue
		}
		tier = max(tier, p.Tier)
		s.partitions = append(s.partitions, name)
		if s.In == nil {
			s.In = in
			continue
		}
		s.In = slices.Clone(s.In)
		for n := range in {
			s.In[n] = s.In[n] || in[n]
		}
	}
	switch {
	case s.In == nil && !known:
		return nil, 0, fmt.Errorf("%w: no nodes in partition %s", ErrOversize, j.Partition)
	case s.In == nil:
		return nil, 0, fmt.Errorf("%w: no partition of %s allows %s for %s", ErrOversize, j.Partition, plural.Count(j.Nodes, "node"), trace.Span(j.Limit))
	}
	return s, tier, nil
}

// takes says that a node has what a job needs of it, that much being free.
func (l *Layout) takes(n int32, s *Share, free Amount) bool {
	if s.Whole {
		return free == l.nodes[n]
	}
	return free.covers(s.Per)
}

// admits says that a job may be placed on a node, were it idle.
func (l *Layout) admits(n int32, s *Share) bool {
	if s.In != nil && !s.In[n] || !l.nodes[n].covers(s.Per) {
		return false
	}
	if s.Only == nil {
		return true
	}
	_, found := slices.BinarySearch(s.Only, n)
	return found
}

// Fitting returns the numbers of the nodes that a job may be placed on when they are
// idle, ascending.
func (l *Layout) Fitting(s *Share) (on []int32) {
	for n := range l.nodes {
		if l.admits(int32(n), s) {
			on = append(on, int32(n))
		}
	}
	return on
}

// nodesOf returns the nodes that a window takes: those that it lists, or else the last ones.
func (l *Layout) nodesOf(w Window) []int32 {
	on := w.On
	if len(on) > 0 {
		return on
	}
	for n := len(l.nodes) - w.Nodes; n < len(l.nodes); n++ {
		on = append(on, int32(n))
	}
	return on
}

// resources returns the resources that a place takes of one of its nodes.
func (l *Layout) resources(s *Share, n int32) Amount {
	if s.Whole {
		return l.nodes[n]
	}
	return s.Per
}

// Returned when a machine or a job cannot be.
var (
	// ErrMachine is returned when the machine's description makes no sense.
	ErrMachine = errors.New("invalid cluster")
	// ErrOversize is returned when a job asks for no node or for more nodes
	// than the machine has.
	ErrOversize = errors.New("job does not fit in the cluster")
)

// Window is a span in which some nodes are down.
type Window struct {
	From  int64 // Unix seconds
	To    int64 // Unix seconds
	Nodes int
	// On lists the numbers of the nodes, in the order of the kinds. Without it a window
	// takes the last nodes.
	On []int32
}

// Machine is the description of a cluster.
type Machine struct {
	// Nodes is their number, or that of the Unit. Jobs that share nodes are counted in the
	// resource that runs out first, whichever node has it.
	Nodes int        `json:"nodes" help:"number of nodes, or of the unit (default: from the log, or its peak use)"`
	Unit  trace.Unit `json:"unit,omitempty" help:"unit of the cluster: nodes, or cpus or gpus that jobs share"` // "" is nodes
	Down  []Window   `json:"-"`
	// Kinds, where set, are the nodes as they are, which jobs share: each job is
	// placed on some of them. A window takes the last nodes then.
	Kinds      []Kind      `json:"kinds,omitempty" help:"node kinds: a list of {name, nodes, cpus, gpus, memory_mb, partitions}"`
	Partitions []Partition `json:"partitions,omitempty" help:"limits of partitions: a list of {name, max_seconds, max_nodes, priority_tier}"`
}

// Check returns an error that wraps ErrMachine where the machine has no nodes
// or a window is empty or takes more nodes than there are.
func (m Machine) Check() error {
	if m.Nodes < 1 || m.Nodes > 1<<30 {
		return fmt.Errorf("%w: %d nodes", ErrMachine, m.Nodes)
	}
	if _, err := trace.ParseUnit(string(m.Unit)); err != nil {
		return fmt.Errorf("%w: %w", ErrMachine, err)
	}
	for _, w := range m.Down {
		if w.To <= w.From || w.Nodes < 1 || w.Nodes > m.Nodes {
			return fmt.Errorf("%w: outage of %d nodes from %d to %d", ErrMachine, w.Nodes, w.From, w.To)
		}
		if outside := func(n int32) bool { return n < 0 || int(n) >= m.Nodes }; len(w.On) > 0 && (len(w.On) != w.Nodes || slices.ContainsFunc(w.On, outside)) {
			return fmt.Errorf("%w: outage of %d nodes lists the nodes %v of %d", ErrMachine, w.Nodes, w.On, m.Nodes)
		}
	}
	return m.checkKinds()
}

// Accepts returns an error that wraps ErrOversize where no moment will come
// at which a job of so many nodes fits.
func (m Machine) Accepts(nodes int) error {
	if nodes < 1 || nodes > m.Nodes {
		return fmt.Errorf("%w: %d nodes, the cluster has %d", ErrOversize, nodes, m.Nodes)
	}
	return nil
}
