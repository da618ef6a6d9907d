package slurmview

import (
	"fmt"
	"slices"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// Amounts holds the resources that sbatch's options name, of a task, a GPU, a node or the job;
// memory in MB.
type Amounts struct {
	Tasks, TasksPerNode                       int
	CPUsPerTask, CPUsPerGPU                   int
	GPUs, GPUsPerNode, GPUsPerTask            int
	MemoryPerNode, MemoryPerCPU, MemoryPerGPU int64
	Whole                                     bool // nodes
}

// on returns the resources of tasks and GPUs on a number of nodes.
func (m Amounts) on(nodes, tasks, gpus int) trace.Need {
	n := trace.Need{Exclusive: m.Whole}
	tasks = max(tasks, m.TasksPerNode*nodes, nodes)
	n.GPUs = max(m.GPUsPerNode*nodes, gpus, m.GPUsPerTask*tasks)
	n.CPUs = max(tasks*m.CPUsPerTask, n.GPUs*m.CPUsPerGPU)
	n.MemoryMB = max(m.MemoryPerNode*int64(nodes), m.MemoryPerCPU*int64(n.CPUs), m.MemoryPerGPU*int64(n.GPUs))
	return n
}

// fullest returns the resources on the fullest of a number of nodes, which share the tasks and
// the GPUs.
func (m Amounts) fullest(nodes int) trace.Need {
	return m.on(1, over(m.Tasks, nodes), over(m.GPUs, nodes))
}

// complete sets the resources for the number of nodes.
func (a *Ask) complete() {
	n := a.Amounts.on(a.Nodes, a.Amounts.Tasks, a.Amounts.GPUs)
	a.Need = &n
	if a.GPUType != "" {
		a.TypedGPUs = over(n.GPUs, a.Nodes)
	}
}

// over returns a / b, rounded up.
func over(a, b int) int { return (a + b - 1) / b }

// spread returns the least number of nodes that have room for a job, spread evenly; 0 if none
// do.
func (h *Hardware) spread(a Ask) int {
	all := h.within(a)
	most := min(len(all), max(a.Nodes, a.Amounts.Tasks, a.Amounts.GPUs)) // more have room for no less
	if a.MostNodes > 0 {
		most = min(most, a.MostNodes)
	}
	for nodes := a.Nodes; nodes <= most; nodes++ {
		each, fit := a.Amounts.fullest(nodes), 0
		for _, n := range all {
			fit += bit(n.holds(each, a.GPUType))
		}
		if fit >= nodes {
			return nodes
		}
	}
	return 0
}

// holds reports whether a node has the resources, with GPUs of a type; "" is any.
func (n *seen) holds(need trace.Need, gpuType string) bool {
	k := n.kind
	return k.CPUs >= need.CPUs && k.GPUs >= need.GPUs && (k.MemoryMB == 0 || k.MemoryMB >= need.MemoryMB) &&
		(gpuType == "" || n.types[gpuType] >= need.GPUs)
}

// within returns the nodes of a job's partitions that its place allows.
func (h *Hardware) within(a Ask) (all []*seen) {
	p := a.Place
	p.TypedGPUs = 1
	only, err := h.only(p, a.Nodes)
	if err != nil {
		return nil
	}
	for i := range h.nodes {
		n := &h.nodes[i]
		if n.in(a.Partition) && (only == nil || slices.Contains(only, int32(i))) {
			all = append(all, n)
		}
	}
	return all
}

// uneven returns an error for a job that no number of nodes has room for when it is spread
// evenly. It wraps ErrNoStart if all nodes together have as much as it wants, else
// cluster.ErrOversize.
func (h *Hardware) uneven(a Ask) error {
	all := h.within(a)
	if !a.Spread || len(all) == 0 {
		return nil
	}
	var sum cluster.Kind
	for _, n := range all {
		sum.CPUs = sum.CPUs + n.kind.CPUs
		sum.GPUs = sum.GPUs + n.kind.GPUs
		sum.MemoryMB = sum.MemoryMB + n.kind.MemoryMB
	}
	if one := (seen{kind: sum}); one.holds(a.Amounts.fullest(1), "") {
		return fmt.Errorf("%w: no number of nodes has room for equal parts of it, and unequal parts are not predicted", ErrNoStart)
	}
	return fmt.Errorf("%w: want %d CPUs, %d GPUs, %d MB in all, its nodes have %d, %d, %d", cluster.ErrOversize,
		a.Need.CPUs, a.Need.GPUs, a.Need.MemoryMB, sum.CPUs, sum.GPUs, sum.MemoryMB)
}

// countAsleep returns the number of nodes in service of a job's partitions and place, and how
// many of them are powered down.
func (h *Hardware) countAsleep(a Ask) (all, asleep int) {
	for _, n := range h.within(a) {
		all += bit(!n.out())
		asleep += bit(!n.out() && n.asleep)
	}
	return all, asleep
}
