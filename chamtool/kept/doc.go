// Package kept is the file of task runs that a host keeps from one program run
// to the next, shared by all processes of the host.
//
// It decides whose turn it is, by a lock that nobody waits for longer than its
// caller says: whoever does not get it leaves its runs in a file of its own, which
// the next one takes in. It refuses to lose a file that it cannot read: that one
// is set aside.
package kept
