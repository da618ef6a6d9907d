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
	// Others are the nodes of the devices from workload.Other on, which run one
	// job at a time.
	Others []Kind
}

// Kind is the nodes of one device.
type Kind struct {
	Name  string
	Nodes int
}

// devices are those that there are nodes of, ascending.
func (c Cluster) devices() []workload.Device {
	var there []workload.Device
	for d := range workload.Device(workload.Devices) {
		if c.Nodes(d) > 0 {
			there = append(there, d)
		}
	}
	return there
}

// Name returns what a device is called.
func (c Cluster) Name(d workload.Device) string {
	if d < workload.Other {
		return d.String()
	}
	return c.Others[d-workload.Other].Name
}

// Nodes returns how many nodes of a device there are.
func (c Cluster) Nodes(d workload.Device) int {
	switch at := int(d - workload.Other); {
	case at < 0:
		return [...]int{c.CPUNodes, c.GPUNodes}[d]
	case at < len(c.Others):
		return c.Others[at].Nodes
	}
	return 0
}

// share returns the part of a node that a job takes, and false where it does
// not fit one.
func (c Cluster) share(j *workload.Job, d workload.Device) (float64, bool) {
	if c.Nodes(d) == 0 || math.IsInf(j.Seconds(d), 1) {
		return 0, false
	}
	capacity := [workload.Devices]float64{c.CPUsPerNode, c.GPUsPerNode}[d]
	if capacity == 0 {
		return 1, true
	}
	part := j.Units(d) / capacity
	return part, part <= 1
}

// mostNodes of a device can be scheduled in reasonable memory.
const mostNodes = 1_000_000

func (c Cluster) check() error {
	if len(c.Others) > workload.Devices-int(workload.Other) {
		return fmt.Errorf("%d kinds of nodes: %w (at most %d)", int(workload.Other)+len(c.Others), ErrCluster, workload.Devices)
	}
	all := 0
	for d := range workload.Device(int(workload.Other) + len(c.Others)) {
		n := c.Nodes(d)
		if n < 0 || n > mostNodes {
			return fmt.Errorf("%d %s nodes: %w (at most %d of each)", n, c.Name(d), ErrCluster, mostNodes)
		}
		all += n
	}
	if all == 0 {
		return fmt.Errorf("no nodes: %w", ErrCluster)
	}
	for _, x := range []float64{c.CPUsPerNode, c.GPUsPerNode} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("capacity %v of a node: %w", x, ErrCluster)
		}
	}
	return nil
}
