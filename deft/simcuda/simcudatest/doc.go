// Package simcudatest is what tests of a hook need beside the simulated driver:
// programs that use the driver in one way each, and what the driver counted.
package simcudatest
