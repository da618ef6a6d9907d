// Package matching finds the assignment of jobs to machines of several types, and the
// order on each machine, with the least sum of completion times.
//
// The solution is exact: a job that is the n-th from the end of a machine's queue delays
// itself and the n-1 jobs behind it, so it costs n times its own time plus the time at
// which the machine is free. The best plan is a minimum-cost matching of jobs to such
// slots (Horn 1973; Bruno, Coffman and Sethi 1974; AlloX, EuroSys 2020, section 4).
// Times must be above zero and ready times finite. Users, arrivals and estimation errors
// are handled by package schedule.
//
// A Plan is updated as jobs come and go and machines become free; DESIGN.md of package
// schedule describes how.
package matching
