// Package diagnosis finds launches that the hook did not see, from a program's file and its clients
// in a session, and returns the cause with its remedy.
package diagnosis
