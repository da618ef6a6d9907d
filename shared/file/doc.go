// Package file writes the files that outlive a program: whole ones, which
// appear complete or not at all, and logs, which only ever grow.
//
// It decides how the bytes get to the disk (a temporary file in the same
// folder, synced and renamed; a lock and a synced append) and refuses to put a
// regular file in the place of a device or a pipe, to cut a file that is not a
// log of the caller's, and to let two processes write one log.
package file
