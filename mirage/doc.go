// Package mirage decides when a service that outlives a batch queue's time
// limit submits its successor, and simulates the queue to find out.
//
// The packages below it are the stages of one flow: trace (jobs out of
// accounting logs), cluster (the machine and who starts now), simulator (virtual
// time, forks, settings from a log), backtest (waits predicted from a log), chain
// (service pairs and their rewards), samples (what was known at a decision),
// policy (submit now or wait), model (how long a successor will wait), validation
// (how good that was), slurm (the same on a real queue). The command is
// cmd/mirage.
package mirage
