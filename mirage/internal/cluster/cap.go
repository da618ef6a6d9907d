package cluster

// Cap is a limit on the jobs of a group that run at once, such as a quality of
// service, a user in it, or the tasks of an array. A resource with 0 is not limited.
type Cap struct {
	Jobs     int64 `json:"jobs,omitempty"`
	Nodes    int64 `json:"nodes,omitempty"`
	CPUs     int64 `json:"cpus,omitempty"`
	GPUs     int64 `json:"gpus,omitempty"`
	MemoryMB int64 `json:"memory_mb,omitempty"`
}

// Admits reports whether a group that runs used may run one more job.
func (c Cap) Admits(used, one Cap) bool {
	within := func(limit, used, one int64) bool { return limit == 0 || used+one <= limit }
	return within(c.Jobs, used.Jobs, one.Jobs) && within(c.Nodes, used.Nodes, one.Nodes) && within(c.CPUs, used.CPUs, one.CPUs) &&
		within(c.GPUs, used.GPUs, one.GPUs) && within(c.MemoryMB, used.MemoryMB, one.MemoryMB)
}

// Add adds what a job uses, times 1 at its start and -1 at its end.
func (c *Cap) Add(one Cap, times int64) {
	c.Jobs += times * one.Jobs
	c.Nodes += times * one.Nodes
	c.CPUs += times * one.CPUs
	c.GPUs += times * one.GPUs
	c.MemoryMB += times * one.MemoryMB
}
