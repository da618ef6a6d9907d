// Package mirage decides when a service that outlives a batch queue's time
// limit submits its successor, and simulates the queue to find out.
//
// The packages below it are the stages of one flow: trace (jobs out of
// accounting logs), cluster (the machine), scheduler (who starts now),
// simulator (virtual time, forks), checker (is the schedule right).
// The command is cmd/mirage.
package mirage
