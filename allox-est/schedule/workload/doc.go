// Package workload reads, writes and generates the jobs that a schedule is
// computed for.
//
// It decides for its caller what a job's time is on each device, the true one
// and the one its estimate reports, and goes on after a bad record, which
// becomes a diagnostic with file and line. It refuses times that are not above
// zero, a job that can run nowhere, and two jobs of one id.
//
// Three sources give a workload: the text records of the AlloX simulator
// (Read), reports of allox-est itself (ReadReport), and Generate.
package workload
