// Package slurmview takes a snapshot of a live Slurm and predicts when a job would start.
//
// A [Client] calls squeue, scontrol, sacctmgr and sacct, by argument vectors and never through
// a shell. A [View] has the nodes, partitions, reservations, limits and licences, the queue and
// how long jobs ran lately; it simulates the queue for a job that may be submitted ([Ask]), for
// one that waits, and for the next job of a chain. Whoever asks about a live Slurm asks a View.
//
// Each reason for which a job waits is simulated, is a refusal ([ErrNoStart],
// [ErrNotAdmitted]), or is named by [View.FindUnknowns]: then nobody knows how long the wait
// may last. An answer of Slurm that is not understood is an [ErrAnswer].
package slurmview
