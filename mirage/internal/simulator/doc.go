// Package simulator replays a job trace on a simulated machine: it computes the start of
// each job under the rules of a scheduler.
//
// It works on virtual time and goes from event to event (submission, end, backfill pass,
// nodes down or up), without ticks. The state is small and separate from the table of
// jobs, so a [Simulator] can be forked at any time: simulating one more submission costs
// only the time from then on. The same jobs and settings give exactly the same starts.
//
// A job runs for its duration in the trace or its limit, whichever is shorter. A job
// that needs more nodes than the machine has is rejected and counted. If the machine has
// kinds of nodes, jobs are placed on certain nodes and may share them. A job that
// depends on another becomes eligible when that one has ended.
//
// [Search] finds the settings whose simulated waits are closest to those in a log,
// measured by one number ([Loss]). It searches nodes and user limit first, then weights,
// one at a time, until nothing improves. The held-out range is not used for the search.
package simulator
