// Package layers holds the import rules of the project, each ban with its reason,
// and finds violations.
//
// Flow gives the order of each module's packages; a package imports only those
// before it. The rules parse the source; nothing is built. `make check` runs them,
// and so does this package's test over the workspace itself.
package layers
