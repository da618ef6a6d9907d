// Package slurm keeps a chain of service jobs running on a live Slurm.
//
// A policy of package policy decides when the successor of the running service job is
// submitted, and the package submits it exactly once: a link of the chain has one job,
// whichever process crashes and whichever reply is lost. DESIGN.md has the argument. A
// [Client] calls squeue, sbatch, scancel, scontrol and sacct, by argument vectors and
// never through a shell; a [Ledger] is the journal of submissions and their outcomes; a
// [Provisioner] polls, decides and submits.
//
// These are errors: an unknown outcome of a submission ([ErrUnsure]), services that fail
// again and again ([ErrFailing]), a second process on the same directory
// ([file.ErrInUse]), and an unreadable answer of Slurm ([ErrAnswer]).
package slurm
