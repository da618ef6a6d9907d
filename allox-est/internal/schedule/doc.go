// Package schedule simulates the schedule of jobs on a cluster of CPU and GPU nodes under
// one of several policies, and reports completion times.
//
// A policy decides by estimated times; the replay then gives every job its true time, so
// the result contains the cost of the estimation errors. A job that fits on no node, an
// unknown policy, and an alpha outside (0, 1] are errors.
//
// Jobs come from reports of allox-est (ReadReport), from a table (ReadTable) or from a
// Generator. A bad row becomes a diagnostic with file and line, and reading goes on;
// rows need times above zero and at least one device. DESIGN.md describes the policies,
// their sources and the rejected alternatives.
package schedule
