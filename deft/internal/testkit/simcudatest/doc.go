// Package simcudatest helps to test a hook on the simulated driver: it has programs that
// each use the driver in one way, the driver's own counts, and clients of a session that
// launch nothing.
package simcudatest
