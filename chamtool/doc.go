// Package chamtool learns, inside a running Chameleon or OpenMP program, how long its tasks
// take, and moves them between the ranks. The commands are cmd/chamtool and the library
// cmd/libchamtool; the packages, in the order of the data flow:
//
//   - event: the events of the program's threads, and the names of its functions
//   - task: turns events into runs of tasks, and reads and writes logs of them
//   - interval, mixture: the ends of an interval, and the weights of experts
//   - perfmodel, forecast: predict the time of a task and the load of an iteration
//   - balance: decides which tasks move to which rank
//   - job: the logs of a rank, and of all ranks together
//   - session: the online path of one rank, from events to decisions and logs
//   - replay: the same on recorded logs
//
// Package config reads the environment; host is a test program for all of it.
package chamtool
