package schedule

import (
	"errors"
	"fmt"
	"math"
)

// Errors returned when there is nothing to schedule, or nowhere. They arrive
// wrapped with the job or the setting.
var (
	// ErrNoJobs is returned for a workload without jobs.
	ErrNoJobs = errors.New("no jobs")
	// ErrCluster is returned for a cluster without nodes, or with too many.
	ErrCluster = errors.New("invalid cluster")
	// ErrTooLarge is returned for a job that fits no node.
	ErrTooLarge = errors.New("fits on no node")
	// ErrPolicy is returned for a policy name that is not known.
	ErrPolicy = errors.New("unknown policy")
	// ErrSetting is returned for a setting out of its range.
	ErrSetting = errors.New("setting out of range")
	// ErrStuck is returned when jobs wait, nothing runs and the policy starts
	// nothing.
	ErrStuck = errors.New("the policy starts no job on an idle cluster")
)

// Cluster is the nodes to schedule on. A node runs one job at a time, whatever the
// job asks for.
type Cluster struct {
	CPUNodes, GPUNodes int
	// Others are the nodes of the devices from Other on.
	Others []Kind
}

// Kind is the nodes of one device.
type Kind struct {
	Name  string
	Nodes int
}

// devices returns the devices that have nodes, ascending.
func (c Cluster) devices() []Device {
	var there []Device
	for d := range Device(Devices) {
		if c.Nodes(d) > 0 {
			there = append(there, d)
		}
	}
	return there
}

// Name returns what a device is called.
func (c Cluster) Name(d Device) string {
	if d < Other {
		return d.String()
	}
	return c.Others[d-Other].Name
}

// Nodes returns how many nodes of a device there are.
func (c Cluster) Nodes(d Device) int {
	switch at := int(d - Other); {
	case at < 0:
		return [...]int{c.CPUNodes, c.GPUNodes}[d]
	case at < len(c.Others):
		return c.Others[at].Nodes
	}
	return 0
}

// runs says that there is a node for a job on a device.
func (c Cluster) runs(r *Record, d Device) bool {
	return c.Nodes(d) > 0 && !math.IsInf(r.Seconds(d), 1)
}

// mostNodes of a device can be scheduled in reasonable memory.
const mostNodes = 1_000_000

func (c Cluster) check() error {
	if len(c.Others) > Devices-int(Other) {
		return fmt.Errorf("%w: %d kinds of nodes, want at most %d", ErrCluster, int(Other)+len(c.Others), Devices)
	}
	all := 0
	for d := range Device(int(Other) + len(c.Others)) {
		n := c.Nodes(d)
		if n < 0 || n > mostNodes {
			return fmt.Errorf("%w: %d %s nodes, want 0 to %d of each kind", ErrCluster, n, c.Name(d), mostNodes)
		}
		all += n
	}
	if all == 0 {
		return fmt.Errorf("%w: no nodes", ErrCluster)
	}
	return nil
}
