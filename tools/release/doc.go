// Package release makes a release of the workspace and rehearses it.
//
// On main every module replaces its sibling shared by the folder beside it, and
// `go install MODULE@VERSION` refuses a module that replaces anything. So a
// release is one commit beside main that alone drops the replace lines and holds
// what needs a C compiler, made: shared
// is tagged where main is, the other modules at the release commit, which
// requires that version of shared. Nothing is pushed: whoever releases does.
package release
