// Package matching finds the assignment of jobs to machines of several types,
// and the order on each machine, that minimises the sum of completion times.
//
// It decides exactly: a job that is the n-th from the end of a machine's queue
// delays itself and the n-1 behind it, so it costs n times its own time plus
// the time at which the machine is free, and the best plan is a matching of
// minimum cost of jobs to such slots (Horn 1973; Bruno, Coffman and Sethi
// 1974; AlloX, EuroSys 2020, section 4). It refuses times that are not above
// zero and ready times that are not finite. It knows nothing of users,
// arrivals or errors; the schedule package does.
//
// A Plan is kept up to date as jobs come and go and machines become free:
// DESIGN.md of the schedule package tells how.
package matching
