// Package provision keeps a chain of service jobs running on a live Slurm.
//
// A policy of package policy decides when the successor of the running service job is
// submitted, by a view of package slurmview, and the package submits it exactly once: a link
// of the chain has one job, whichever process crashes and whichever reply is lost. DESIGN.md
// has the argument. A [Ledger] is the journal of submissions and their outcomes; a
// [Provisioner] polls, decides and submits.
//
// These are errors: an unknown outcome of a submission ([ErrUnsure]), services that fail
// again and again ([ErrFailing]) or at once ([ErrScript]), a second process on the same directory
// ([file.ErrInUse]), and a Slurm that does not answer ([ErrSilent]).
package provision
