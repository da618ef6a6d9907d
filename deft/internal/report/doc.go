// Package report says what became of an experiment, and what sharing cost.
//
// A [Run] is the outcome of one experiment, a [Model] for each process in the
// order of the configuration; it is what deft run prints and keeps as run.json.
// [Run.Compare] sets it beside the same models alone on the device: inflation is
// shared mean completion time over the one alone, less 1. Fairness is Jain's
// index over the progress of the models, 1 where all are slowed alike. A report
// can be made from logs of completion times too, without what only the
// supervisor knows (launches, synchronization points, stalls).
//
// The package refuses to compare models that are not the same by name, and an
// experiment without a finished job.
//
// Logs of completion times, one row a job, have Deft's columns: start and end in ns
// on a clock that all processes of an experiment share, jct_ms, and two of device
// memory, which older logs lack. The first row is the warm-up job and does not
// count, as with Deft's readers, and a quantile is interpolated between the two
// nearest jobs, as NumPy's default does. A row that cannot be read is a diagnostic,
// and the others count; no job is [ErrNoJobs], never a mean of nothing. The charts
// have Deft's axes.
//
//	shared, err := report.Load("out/run.json")
//	if err != nil {
//		return err
//	}
//	alone, err := report.Load("out/alone.json")
//	if err != nil {
//		return err
//	}
//	c, err := shared.Compare(alone)
//	if err != nil {
//		return err
//	}
//	fmt.Println(*c.Models[1].Inflation, *c.Progress)
package report
