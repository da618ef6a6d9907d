// Package chamtool holds a tool library for the Chameleon MPI+OpenMP runtime
// and a command beside it. Its packages, in the order data flows through them:
//
//   - abi: what crosses from C to Go
//   - symbol, logdir: the names of functions, and the folder for a job's logs
//   - ring: one thread's events
//   - task: events understood as task runs
//   - perfmodel, forecast: run times and iteration loads, learned
//   - kept: what is kept of runs for the next program run
//   - balance: which tasks move to which rank
//   - session: all of that for one rank, online
//   - tasklog, report, job: what is kept of a rank, and of all ranks together
//   - replay, evaluation, simulate: the same, on logs and on paper
//
// Packages config and cpufreq tell what the environment and the machine say.
// The library itself is cmd/libchamtool; package host is a program to try it
// with.
package chamtool
