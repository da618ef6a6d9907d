// Package report formats estimates and the results of whole runs for people and
// programs: the JSON, the rows of the table and the notes. A device without an estimate
// is listed with the reason. The same journal gives the
// same bytes.
package report
