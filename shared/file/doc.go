// Package file writes the files that outlive a program: whole files, which appear
// complete or not at all, and logs, which only grow.
//
// A whole file is written to a temporary file in the same directory, synced and
// renamed; a log is locked, and each append is synced. A device or a pipe is never
// replaced by a regular file, a file that is not one of the caller's logs is never
// cut, and two processes never write one log.
package file
