// Package mirage simulates a batch queue and decides when a service that outlives the
// queue's time limit submits its successor.
//
// The packages below it are the stages of one data flow: trace (jobs from accounting
// logs), cluster (the machine and the scheduler), lengths (run times of jobs), simulator (virtual time, forks,
// settings fitted to a log), backtest (waits predicted from a log), chain (service pairs
// and their rewards), samples (the state at a decision), policy (submit now or wait),
// model (the predicted wait of a successor), validation (the quality of a policy), slurm
// (the same on a live queue), forecast (the wait of a job of a log or a live queue). The command is in cmd/mirage.
package mirage
