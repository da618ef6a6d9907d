// Package device lists devices with their properties and their load now.
//
// Devices come from a [Source]: this machine alone ([Local]), a file ([File]), or a
// cluster's [Prometheus]. The package reads a machine's load from the kernel and gives
// every machine a stable identity. A device without a name, or with a load outside 0 to
// 100 %, is an error ([ErrInvalid]).
//
// In a cluster it reads each node's properties from a characterization agent (char_node_*)
// and its load from node_exporter, with three concurrent instant queries, and joins them by
// the node's name. Busy is the fraction of time in which no CPU was idle, never an average
// over all modes. A node whose agent or exporter is missing, stale, or reports impossible
// values is excluded with the reason. [ErrUnreachable], [ErrTimeout] and [ErrAnswer] are
// returned if Prometheus itself gives no usable answer.
//
// An [Exporter] is such an agent: it exports the properties of this node to Prometheus
// under the names of char_agent 1.2. It contacts no other machine and omits metrics that it
// cannot read: a machine without a battery or a power meter has no such metric. (The
// original reported a constant.)
//
//	source := device.Prometheus{URL: "http://10.0.0.1:9090", Client: http.DefaultClient}
//	devices, excluded, err := source.Devices(ctx)
package device
