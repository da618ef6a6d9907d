// Package simcudatest is what tests of a hook need beside the simulated driver:
// programs that use the driver in one way each, what the driver counted, and
// clients of a session that launch nothing.
package simcudatest
