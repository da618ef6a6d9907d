// Package validation tests policies on episodes that they have not seen.
//
// Every episode is simulated from a warm queue, with the policy and with the reactive
// one. The reactive outcome classifies the load of the episode: low (interrupted for at
// most 2 h), medium, or heavy (more than 12 h). The figures are means and quantiles of
// interruption and overlap over all episodes, the fraction of episodes with at most 60 s
// of interruption, the reduction compared with reactive, and wasted node-hours, each by
// class of load, with intervals, and paired tests. Episodes that share a queue are one
// observation: intervals and tests are over spans of time, not over episodes. A policy
// is better than a baseline only if the test says so.
package validation
