// Package cluster models a batch system: the machine, the use of its nodes now and in the
// future, and the scheduler that chooses the pending jobs to start.
//
// Nodes are whole, exclusive and interchangeable, or of kinds ([Kind]); with kinds, a job
// takes CPUs, GPUs and memory of certain nodes ([Share], [Place]). The package computes
// when a request fits, now ([Occupancy]) or later ([Profile]). It plans by time limits
// only, because actual run times are unknown. Outages are known in advance: no job is
// placed on a node if its limit reaches into an outage.
//
// [Disciplines] lists the schedulers, from first come first served to that of Slurm: a
// pass in priority order after every event, and a backfill pass at most every
// bf_interval, which reserves nodes for every job that it considers. Jobs wait in a
// [Queue] in the order of their multifactor priority; [Rules] hold the settings, with
// the defaults of [Defaults]. A job whose user has reached the limit of running jobs is
// skipped and blocks no other.
//
// Names and defaults follow Slurm's documents (slurm.conf(5),
// priority_multifactor, sched_config); EASY is Lifka, "The ANL/IBM SP
// Scheduling System" (JSSPP 1995), conservative backfill Mu'alem and Feitelson
// (IEEE TPDS 12(6), 2001).
//
// Times are Unix seconds, spans are half-open: [from, to).
package cluster
