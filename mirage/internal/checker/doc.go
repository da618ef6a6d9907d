// Package checker finds what is wrong with a simulated schedule. It is of tests
// only, which put the simulator and the sampling before it.
//
// It knows nothing of how the simulator works. From the input table and the
// output (jobs.csv) alone it recomputes what every correct schedule obeys, by
// the plainest means, and reports each breach with the job and the moment:
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
// It decides which invariants the settings allow to be checked and says why
// it left one out; it refuses to call a schedule good because a check did not
// apply.
package checker
