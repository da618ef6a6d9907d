// Package launch executes one run of a job and measures its cost.
//
// A run ends when its first process ends. The last few KiB of the output are kept, and all
// of it is parsed. Processor time and memory are those of the whole process tree.
//
// A [Runner] executes samples: processes that outlive the first one are counted and killed.
// No process is left behind: processes are found by process group and parentage, with the
// Runner's process adopting orphans (PR_SET_CHILD_SUBREAPER, prctl(2)).
//
// A [Job] executes the user's own job, which may run for days: it passes signals on, never ends
// the job by itself, and leaves its input, directory, terminal and background work alone. If
// this process is killed, the job goes on and a relay shows its output. Of two signals that ask
// for the end, the second one kills, unless both are SIGTERM.
package launch
