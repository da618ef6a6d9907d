// Package session is the shared memory through which the owner of a policy and the clients
// on one GPU, processes under libdeft.so, communicate without a lock.
//
// It defines the layout of the region (byte for byte that of hook/src/session.h), the writer
// of each word, which processes are alive, and how either side is woken. It does not map a
// file of another version or size, or a plain file that other users could change or truncate
// (which would kill the process by a signal), and it checks a process id together with its
// start time.
//
// The owner writes one [Directive] per client: stop at the gate, synchronize every N
// launches, keep little device time in flight. A client follows directives only while the owner's
// heartbeat is recent.
package session
