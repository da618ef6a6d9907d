// Package schedule places jobs on the nodes of a cluster of CPU and GPU nodes
// under one of several policies, and measures the outcome.
//
// A policy decides with the times that estimates report; the replay then lets
// every job take its true time, so the outcome shows what the errors of the
// estimates cost. It refuses a job that fits no node, a policy it does not
// know, and a fairness alpha outside (0, 1].
//
// Jobs come from reports of allox-est (ReadReport), from a table (ReadTable) or from a
// Generator. Reading goes on after a bad row, which becomes a diagnostic with file and
// line; it refuses times that are not above zero, and a job that can run nowhere. What each policy does, where it
// comes from and what was rejected is in DESIGN.md.
package schedule
