package schedule

import (
	"errors"
	"fmt"
	"math"

	"github.com/foretime/foretime/allox-est/schedule/workload"
)

// Errors returned when there is nothing to schedule, or nowhere. They arrive
// wrapped with the job or the setting.
var (
	// ErrNoJobs is returned for a workload without jobs.
	ErrNoJobs = errors.New("no jobs")
	// ErrCluster is returned for a cluster without nodes, or with a capacity
	// that is not one.
	ErrCluster = errors.New("not a cluster")
	// ErrTooLarge is returned for a job that fits no node.
	ErrTooLarge = errors.New("fits no node")
	// ErrPolicy is returned for a policy name that is not known.
	ErrPolicy = errors.New("unknown policy")
	// ErrSetting is returned for a setting out of its range.
	ErrSetting = errors.New("setting out of range")
	// ErrStuck is returned when jobs wait, nothing runs and the policy starts
	// nothing.
	ErrStuck = errors.New("the policy starts no job on an idle cluster")
)

// Cluster is the nodes to schedule on.
type Cluster struct {
	CPUNodes, GPUNodes int
	// CPUsPerNode and GPUsPerNode let jobs share a node while the units they
	// ask for fit. 0 means that a node runs one job at a time, whatever it
	// asks for.
	CPUsPerNode, GPUsPerNode float64
}

// Nodes returns how many nodes of a device there are.
func (c Cluster) Nodes(d workload.Device) int {
	return [...]int{c.CPUNodes, c.GPUNodes}[d]
}

// share returns the part of a node that a job takes, and false where it does
// not fit one.
func (c Cluster) share(j *workload.Job, d workload.Device) (float64, bool) {
	if c.Nodes(d) == 0 || math.IsInf(j.Seconds(d), 1) {
		return 0, false
	}
	capacity := [...]float64{c.CPUsPerNode, c.GPUsPerNode}[d]
	if capacity == 0 {
		return 1, true
	}
	part := j.Units(d) / capacity
	return part, part <= 1
}

// mostNodes of a device can be scheduled in reasonable memory.
const mostNodes = 1_000_000

func (c Cluster) check() error {
	if c.CPUNodes < 0 || c.GPUNodes < 0 || c.CPUNodes+c.GPUNodes == 0 {
		return fmt.Errorf("%d CPU nodes and %d GPU nodes: %w", c.CPUNodes, c.GPUNodes, ErrCluster)
	}
	if max(c.CPUNodes, c.GPUNodes) > mostNodes {
		return fmt.Errorf("%d CPU nodes and %d GPU nodes: %w (at most %d of each)", c.CPUNodes, c.GPUNodes, ErrCluster, mostNodes)
	}
	for _, x := range []float64{c.CPUsPerNode, c.GPUsPerNode} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("capacity %v of a node: %w", x, ErrCluster)
		}
	}
	return nil
}
