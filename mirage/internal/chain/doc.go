// Package chain simulates one link of a chain of services: a predecessor that runs to its
// time limit, and a successor that should start when the predecessor ends.
//
// A [Pair] begins with the submission of the predecessor and is advanced in time. At any
// time it can simulate the submission of the successor in a fork, which does not change
// the pair. The reward of a submission is the successor's start minus the predecessor's
// end: above zero the service was interrupted, below zero both ran at once. [Cost]
// weighs the two; a policy chooses the time.
package chain
