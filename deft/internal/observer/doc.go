// Package observer derives the state of a client that policies see from the counters that
// its hook writes. The owner of a session and the simulator use the same code, so a
// simulated policy knows no more than a real one: a queue is known to be empty only once
// the program, or a directive, has waited for it.
package observer
