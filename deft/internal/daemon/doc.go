// Package daemon is the long-lived owner of a session that any program of the user joins: it
// applies a policy, which can be changed while programs run.
//
// A named session has one owner at a time. A killed owner is followed by another on the same
// session; an owner ends when no program needs it. A directory that other users can write to
// ([ErrDirectory]) and a second owner ([ErrOwned]) are errors.
package daemon
