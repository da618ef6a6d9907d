// Package cluster is a batch system: the machine, who holds its nodes and how
// many will be free when, and the scheduler that decides which pending jobs
// start now.
//
// Nodes are whole, exclusive and interchangeable, or of kinds ([Kind]): then a
// job takes CPUs, GPUs and memory of certain ones ([Share], [Place]). The
// package decides when a request fits, now ([Occupancy]) or later ([Profile]);
// it refuses to plan on anything but time limits, because it is not known how long
// a job will really run. Windows in which nodes are down are known in advance, so no job is
// placed where its limit reaches into one that it does not fit in.
//
// [Disciplines] lists the schedulers, from first come first served to what
// Slurm does: a strict pass in the order of priority after every event, and a
// backfill pass at most every bf_interval that reserves nodes for every job it
// looks at. Jobs wait in a [Queue] in the order of their multifactor priority;
// [Rules] hold the settings, whose defaults are those of [Defaults]. A job whose
// user runs as many jobs as allowed is passed over and blocks no other.
//
// Names and defaults follow Slurm's documents (slurm.conf(5),
// priority_multifactor, sched_config); EASY is Lifka, "The ANL/IBM SP
// Scheduling System" (JSSPP 1995), conservative backfill Mu'alem and Feitelson
// (IEEE TPDS 12(6), 2001).
//
// Times are Unix seconds, spans are half-open: [from, to).
package cluster
