// Package journal stores the runs of jobs in an append-only file with one JSON object
// per line.
//
// Append returns when the line is on the disk. If the file ends in the middle of a line,
// only that line is lost. A file that another process has open for appending is an
// error, and every unreadable line becomes a warning with its number.
package journal
