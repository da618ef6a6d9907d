package cluster

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foretime/foretime/mirage/internal/trace"
)

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
