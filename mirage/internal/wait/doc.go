// Package wait predicts how long a job will wait, from what a log shows at its
// submission: nothing that happens at or after that instant is used.
//
// Simple rules (medians of the latest waits of the user, of the user's jobs with that
// shape, of jobs of about that size and limit, and of all jobs; and the start if the
// queue were served as a list) are averaged, and boosted trees over the state of the
// queue and the user's past predict what is missing. The rules and the trees are then
// mixed by weights that follow their errors, so a new log starts with the rules and bad
// trees lose their weight. A job that still waits counts with the wait that the jobs
// which waited longer suggest (Buckley and James, Biometrika 66, 1979), and never with a
// prediction of its own.
//
// The result is a [Distribution], from which all commands take the value, the interval
// and the chance of a start by a time. Until twenty jobs have started it has no
// quantiles: the interval is open.
package wait
