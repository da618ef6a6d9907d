// Package job puts the logs of all ranks of a job together.
//
// It decides which file of a rank counts where several formats lie side by
// side, and names the ranks whose log is missing or torn. It refuses a folder
// without logs ([ErrNoLogs]).
package job
