// Package layers contains tests only: the import rules of the project, each ban with
// its reason, checked over the source of the workspace.
//
// Flow gives the order of each module's packages; a package imports only those
// before it. Nothing is built.
package layers
