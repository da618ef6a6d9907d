// Package sampling makes short runs of a job until the estimate is precise enough.
//
// It chooses the next run from the journal alone (on each device, the fewest units
// first), stops when the interval is narrow enough or the budget is spent, and records
// the runs in the journal. After two failed runs in a row it gives up on a device.
package sampling
