// Package checker finds errors in a simulated schedule. Only tests use it; they run it
// on the output of the simulator and of the sampling.
//
// It shares no code with the simulator. From the input table and the output (jobs.csv)
// it recomputes the invariants of every correct schedule, by the simplest means, and
// reports each violation with the job and the time:
//
//	 1 no more nodes in use than there are, no more of a node than it has
//	 2 every job accounted for, no start before submission, exact ends
//	 3 no user runs more jobs than allowed
//	 4 first come first served keeps the order
//	 5 the first job in the queue starts by the reservation it had
//	 6 conservative backfill keeps the reservation given at submission
//	 7 no idle nodes that the first job in the queue fits in
//	 8 no overtaking between identical jobs
//	 9 age counts no more than its cap (7 and 5 use priorities from scratch)
//	10 same input, same output; shifted and scaled input, shifted and same output
//	11 no waits on a machine that all jobs fit in at once
//	12 a forked simulation goes on as if it had not been forked
//	13 samples know nothing later than their decision, and rewards add up
//	14 features equal their definition
//	15 the hand-made backfill case
//
// If the settings do not allow an invariant to be checked, the report gives the reason;
// a skipped check does not count as passed.
package checker
