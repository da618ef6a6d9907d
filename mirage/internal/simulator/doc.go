// Package simulator replays a job trace on a simulated machine: it computes
// when each job would have started under a scheduler's rules.
//
// It works on virtual time and goes from event to event (submission, end,
// backfill pass, nodes down or up), never by ticks. The whole state is small
// and separate from the table of jobs, so a [Simulator] can be forked at any
// instant: what would happen if one more job were submitted now costs the
// simulation from now on, not from the beginning. The same jobs and settings
// give the same starts, exactly.
//
// A job runs for its duration in the trace or its limit, whichever is
// shorter. A job that asks for more nodes than the machine has is rejected
// and counted. Where the machine has kinds of nodes, jobs are placed on them and may
// share them. A job that follows another becomes eligible when that one has
// ended. The package refuses to guess a job's duration from anything but the
// trace. [Explain] says why a job waited.
//
// [Search] calibrates: it finds the settings under which the simulated waits
// come closest to those in a log, and what closest means is one figure ([Loss]).
// Nodes and user limit come first and weights then, one at a time, until nothing
// gets better. Times at which nodes were evidently down ([Outages]) are taken
// out of the log first, so that the search does not explain them by a smaller
// machine. The held-out range is not looked at before.
package simulator
