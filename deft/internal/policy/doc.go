// Package policy decides which clients of a shared GPU may launch kernels now, and how deep
// the queue of each may be.
//
// A [Policy] gets the state of every client at one moment and returns one [Directive] per
// client and the time of its next call. It never waits, reads a clock or touches a process,
// so the same code decides on the virtual clock of package simulator and in the supervisor of
// real processes. It is called when a client registers or leaves, begins or ends a job, or
// has drained its queue at the closed gate, and at the time that it named.
//
// The policies are none, priority, sync, fair and edf, listed in [Policies]. None of them
// stops a client that is alone. They keep the history that they need themselves, from one
// call to the next.
//
// A weight or deadline that is not set has no effect: such a client has weight 1 and no
// deadline.
package policy
