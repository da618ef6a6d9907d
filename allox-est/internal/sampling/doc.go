// Package sampling runs short runs of a job until they tell enough.
//
// It decides for its caller which run comes next (two lengths on each device,
// in turn, in an order drawn from a seed), when the samples suffice (the
// interval is narrow enough, or the budget is spent), and what of a run's
// output goes into the journal. It refuses to go on with a device on which two
// runs in a row failed. A device on another machine is a Remote, by ssh or through
// Slurm.
package sampling
