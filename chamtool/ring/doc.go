// Package ring reads the rings that the threads of the host program write.
//
// One thread writes a ring and one goroutine reads it, without a lock and
// without a call between them: the writer publishes its head, the reader its
// tail, both as atomic words of the ring's header. The memory may belong to C
// ([Attach]) or to Go ([New], for replays and tests). A writer that finds the
// ring full drops its event and counts it; the package refuses to make it wait.
package ring
