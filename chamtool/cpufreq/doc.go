// Package cpufreq reads the frequency of the cores, away from the tasks.
//
// It decides where to look: the cpufreq files of sysfs, one small file a core,
// else the text of /proc/cpuinfo, which costs about a tenth of a millisecond
// and so must never be read for a task. It refuses to make a number up: where
// neither tells, the answer is [ErrUnknown].
package cpufreq
