// Package registry holds the choices a user makes by name: policies, models,
// schedulers, sources. One list gives the choice itself, the words of a flag's
// help, the table of the docs and the error for a name that is not there, so
// that a new choice is one line in one place.
//
// It decides the order in which choices are shown: that of the list. It
// refuses no name twice; the first entry of a name is the one found.
package registry
