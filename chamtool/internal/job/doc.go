// Package job reads the files that the ranks of a job write: a log and a summary per rank,
// and all of them together as a [Job].
//
// [TakeFolder] chooses the directory of a job's logs, to keep the logs of
// other jobs: a file in the directory names its owner, and the first process of a job writes it
// if there are no logs yet. If a rank has logs in several formats, one of them is used. Ranks
// whose log is missing or torn are listed.
//
// A directory without logs is an error ([ErrNoLogs]).
package job
