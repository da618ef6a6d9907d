// Package layers holds the import rules of the project, each ban with its
// reason, and finds the places that break one.
//
// Each module has one order of packages, its flow, and its imports go one way
// along it; Flow is that order.
//
// It reads the source as text: nothing has to build. `make check` runs it,
// and so does this package's test over the workspace itself.
package layers
