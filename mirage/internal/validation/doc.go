// Package validation judges policies on episodes they have not seen.
//
// Every episode is played from a warm simulated queue, by the policy and by
// the reactive one; the reactive outcome tells the load the episode had: low
// (interrupted for at most 2 h), medium, or heavy (more than 12 h). The
// package decides the figures: means and quantiles of interruption and
// overlap over all episodes, the share of episodes with at most 60 s of
// interruption, the reduction against reactive, node-hours wasted, each by
// class of load, with intervals, and paired tests. Episodes that see the same
// queue are one observation: intervals and tests are over spans of time, not
// over episodes. It refuses to call a policy better than a baseline when the test
// does not.
package validation
