// Package cluster is the machine a batch queue feeds: how many nodes it has,
// when some of them are down, which jobs hold nodes now, and how many nodes
// will be free when.
//
// Nodes are whole, exclusive and interchangeable, or of kinds ([Kind]): then a
// job takes CPUs, GPUs and memory of certain ones ([Share], [Place]). The
// package decides when a request fits, now ([Occupancy]) or later ([Profile]);
// it refuses to plan on anything but time limits, because nobody knows how long
// a job will really run. Windows in which nodes are down are known in advance, so no job is
// placed where its limit reaches into one that it does not fit in.
//
// Times are Unix seconds, spans are half-open: [from, to).
package cluster
