// Package scheduler decides which pending jobs start now.
//
// [Disciplines] lists the ways to do so, from first come first served to what
// Slurm does: a strict pass in the order of priority after every event, and a
// backfill pass at most every bf_interval that reserves nodes for every job it
// looks at. Jobs wait in a [Queue] in
// the order of their multifactor priority; [Rules] hold the settings, whose
// defaults are those of [Defaults].
//
// The package refuses to know how long a job will really run, to start a job
// whose user runs as many jobs as allowed (such a job is passed over and
// blocks nobody), and to place a job where its limit reaches into a window in
// which nodes are down.
//
// Names and defaults follow Slurm's documents (slurm.conf(5),
// priority_multifactor, sched_config); EASY is Lifka, "The ANL/IBM SP
// Scheduling System" (JSSPP 1995), conservative backfill Mu'alem and Feitelson
// (IEEE TPDS 12(6), 2001).
package scheduler
