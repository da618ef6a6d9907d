// Package trial runs an experiment: on the virtual clock of package simulator, or with real
// processes under the hook, supervised by the same policy.
//
// It defines the process of a model (its kernel profile, its terms with the policy), the
// order of a run (every model loads, runs a warm-up job and waits at a barrier until all have
// done so), and the files of a run: a log of completion times per model, its standard error,
// models_pid.json and run.json. If a process ends before the barrier, or with an error after
// it, the run ends with an error that shows the last lines that the process wrote. No process
// outlives the run. Processes are members of a session whose owner is this process, package
// daemon, as under deft exec.
//
// A [Sweep] holds one experiment under several synchronization intervals, which apply to the
// models below the highest priority, or to all if their priorities are equal. Each model is
// measured alone first; the delay is the sum of the differences between the mean completion
// times shared and alone.
package trial
