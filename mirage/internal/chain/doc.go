// Package chain plays one link of a chain of services on a simulated queue: a
// predecessor that runs to its time limit, and a successor that should start
// the moment the predecessor ends.
//
// A [Pair] begins with the submission of the predecessor and is carried
// forward in time; at any instant it can be asked what would happen if the
// successor were submitted now, which is answered by a fork and leaves the
// pair as it was. The reward of a submission is the successor's start less
// the predecessor's end: above zero the service was interrupted, below zero
// both ran at once. The package decides what happened and refuses to judge
// it: costs are [Cost]'s, and choosing the moment is a policy's.
package chain
