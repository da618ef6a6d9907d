// Package schedule simulates the schedule of jobs on a cluster of CPU and GPU nodes under
// one of several policies, and reports completion times.
//
// A policy decides by estimated times; the replay then gives every job its true time, so
// the result contains the cost of the estimation errors. DESIGN.md describes the policies,
// their sources and the rejected alternatives.
package schedule
