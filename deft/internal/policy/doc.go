// Package policy decides which clients of a shared GPU may launch kernels now,
// and how deep the queue of each may be.
//
// A [Policy] sees every client at an instant and answers one [Directive] for
// each, and the time by which it wants to be asked again. It never waits, reads
// a clock or touches a process, so the same code decides on the virtual clock
// of package simulator and in the supervisor of real processes. It is asked
// when a client registers or leaves, begins or ends a job, or stands drained at
// its closed gate, and at the time it named.
//
// The policies are none, control (what each model's configuration says),
// priority (auto is another name of it), sync and event, rr, fair, edf and quota, listed
// in [Policies]. What all of them promise: a client that is alone is never
// stopped at the gate but by its quota; what they need to know of the past they
// observe themselves, from one question to the next.
//
// The package refuses to guess: it does not scale a weight, a share or a
// deadline that is not there; such a client has weight 1, no quota, no deadline.
package policy
