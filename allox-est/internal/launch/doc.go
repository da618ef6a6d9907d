// Package launch executes one run of a job and measures its cost.
//
// A run ends when its first process ends; processes that outlive it are counted and
// killed. The last few KiB of the output are kept, and all of it is parsed. Processor
// time is that of the whole process tree. No process is left behind: processes are found
// by a cgroup if one can be made, and otherwise by process group and parentage, with
// the Runner's process adopting orphans (PR_SET_CHILD_SUBREAPER, prctl(2)).
package launch
