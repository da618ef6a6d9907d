// Package job is what the ranks of a job leave behind: of each a log and a
// [Summary], and of all of them together a [Job].
//
// It decides into which folder a job may write without touching the logs of
// another ([TakeFolder]): by a file in it that says whose it is, which the first
// process of a job writes where no logs lie yet. It decides which file of a rank
// counts where several formats lie side by side, and names the ranks whose log is
// missing or torn. [Errors] adds up how far predictions were off in memory that
// does not grow; its median is exact to half a percent of itself.
//
// It refuses a folder without logs ([ErrNoLogs]), and to score what has no score:
// without a prediction every figure is NaN and absent from the JSON.
package job
