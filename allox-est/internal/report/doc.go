// Package report puts estimates, and what whole runs showed, into the form
// that people and programs read.
//
// It decides for its caller what a report holds and how its JSON and its table
// look. It refuses nothing: a device without an estimate is listed with its
// reason. The same journal, and the same readings of the machine, give the same bytes.
package report
