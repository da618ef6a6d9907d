// Package registry holds the choices that a user makes by name: policies, models,
// schedulers, sources. From one list come the choice itself, a flag's help, the
// table in the docs and the error for an unknown name; a new choice is one line.
//
// Choices are shown in the order of the list. If a name occurs twice, the first
// entry is found.
package registry
