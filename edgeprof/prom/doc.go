// Package prom lists a cluster's devices and their load from Prometheus.
//
// It reads what a characterization agent says each node is (char_node_*) and
// what node_exporter says of its load, with three instant queries at once, and
// joins them by the node's name. It decides what busy means: the share of time
// that no processor was idle, never an average over all modes. It refuses to
// guess: a node whose agent or exporter is silent, stale, or reports what cannot
// be is excluded with its reason, and an answer that is no answer is an error
// ([ErrUnreachable], [ErrTimeout], [ErrAnswer]).
//
//	source := prom.Source{URL: "http://10.0.0.1:9090", Client: http.DefaultClient}
//	devices, excluded, err := source.Devices(ctx)
package prom
