// Package slurm keeps a chain of service jobs alive on a real Slurm.
//
// It decides, with a policy of package policy, when the successor of the
// running service job is submitted, and submits it exactly once: whatever
// crashes and whichever reply is lost, a link of the chain has one job. What
// that rests on is in DESIGN.md. A [Client] talks to squeue, sbatch,
// scancel, scontrol and sacct, by argument vectors and never through a shell; a
// [Ledger] is the journal of what was intended and what came of it; a
// [Provisioner] polls, decides and submits.
//
// The package refuses to submit again while it cannot know what became of a
// submission ([ErrUnsure]), to submit for ever what does not last
// ([ErrFailing]), to run twice on one folder ([file.ErrInUse]), and to
// take an unreadable answer for an empty queue ([ErrAnswer]).
package slurm
