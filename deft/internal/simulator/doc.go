// Package simulator plays jobs on a shared GPU on a virtual clock: exact,
// repeatable, thousands of jobs a second, under the policies of package policy,
// the very code that decides for real processes.
//
// It decides when each kernel is launched, starts and ends. A client is a host
// thread that launches the kernels of a job one after another, each launch
// taking host time, then waits for the device and sleeps until its next job. It
// stops at a closed gate, waits at a synchronization point until its own queue is
// empty (and loses a little more: the host must wake), and keeps to a bound of
// launches in flight, as a process under the hook does. The device runs one kernel
// at a time to its end, in order of launch (FIFO, what a driver without
// time-slicing does), or takes a client's kernels for a slice of time, then the
// next client's (TimeSlice).
//
// It refuses a client without kernels, a negative time, and a policy that asks
// to be woken in the past. Not modelled: kernels that run side by side, memory,
// clock frequencies.
package simulator
