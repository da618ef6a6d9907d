// Package release makes a release of the workspace and rehearses it.
//
// On main every module replaces shared by its directory in the workspace, and `go
// install MODULE@VERSION` rejects a module with a replace line. A release is
// therefore one commit next to main, which drops the replace lines and adds what
// needs a C compiler, already compiled: shared is tagged on main, the other modules
// at the release commit, which requires that version of shared. Nothing is pushed;
// a person does that.
package release
