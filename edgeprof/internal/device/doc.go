// Package device says which devices there are, what they are and how loaded they
// are now.
//
// Where devices come from is a [Source]: this machine alone ([Local]), a file
// ([File]), or a cluster's [Prometheus]. It decides how one machine's load is read
// from the kernel, and gives every machine a stable identity. It refuses a device
// without a name and a load outside 0 to 100 %.
//
// Of a cluster it reads what a characterization agent says each node is
// (char_node_*) and what node_exporter says of its load, with three instant queries
// at once, and joins them by the node's name. Busy is the share of time that no
// processor was idle, never an average over all modes. A node whose agent or
// exporter is silent, stale, or reports what cannot be is excluded with its reason,
// and an answer that is no answer is an error ([ErrUnreachable], [ErrTimeout],
// [ErrAnswer]).
//
// An [Exporter] is such an agent: it tells Prometheus what this node is under the
// names of char_agent 1.2. It asks nobody outside the machine, and does not report
// what it cannot read: a machine without a battery or a power meter has no such
// metric, where the original reported a constant.
//
//	source := device.Prometheus{URL: "http://10.0.0.1:9090", Client: http.DefaultClient}
//	devices, excluded, err := source.Devices(ctx)
package device
