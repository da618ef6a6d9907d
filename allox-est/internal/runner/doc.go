// Package runner executes one run of a job and tells what it cost.
//
// It decides for its caller when a run is over (when its first process ends),
// what becomes of processes that outlive it (they are killed and counted),
// how much output is kept (the last few KiB; all of it is parsed as it comes),
// and which processor time counts (that of the whole process tree). It
// refuses to leave a process behind: processes are found by a cgroup where one
// can be made, and otherwise by process group and by parentage, the Runner's
// process adopting orphans (PR_SET_CHILD_SUBREAPER, prctl(2)).
package runner
