// Package policy decides whether a service submits its successor now or waits, and when
// to decide next.
//
// A [Policy] gets a [State], the information at that time on a simulated or a live
// queue. It returns submit or wait, and, if it has one, the expected reward of
// submitting now. [Baselines] lists the policies without learning. No policy sees the future or needs a simulator.
package policy
