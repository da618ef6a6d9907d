// Package chamtool learns, inside a running Chameleon program, how long its tasks
// take, and moves them between the ranks. The commands are cmd/chamtool and the
// library cmd/libchamtool; the packages, in the order in which work flows:
//
//   - event: what the program's threads tell, and the names of its functions
//   - task: events become runs of tasks, and runs a log
//   - perfmodel, forecast: how long a task and an iteration will take
//   - balance: what moves where
//   - job: what is left of a rank, and of all ranks together
//   - session: one rank's whole path, from events to decisions and logs
//   - replay, simulate: the same, on logs and on paper
//
// Package config reads the environment, and host is a program to try it all on.
package chamtool
