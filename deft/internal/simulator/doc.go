// Package simulator simulates jobs on a shared GPU on a virtual clock: exact, repeatable,
// thousands of jobs per second, under the same policy code that controls real processes.
//
// It computes when each kernel is launched, starts and ends. A client is a host thread that
// launches the kernels of a job one after another, each launch taking host time, then waits
// for the device and sleeps until its next job. It stops at a closed gate, waits at a
// synchronization point until its own queue is empty (plus the time in which the host wakes
// up), and obeys a bound of launches in flight, as a process under the hook does. The policy
// sees it as package observer does a real process. The device is that of package device.
//
// A client without kernels, a negative time, and a policy whose next call is in the past are
// errors. Not modelled: concurrent kernels, memory, clock frequencies.
package simulator
