// Package report says what became of an experiment, and what sharing cost.
//
// A [Run] is the outcome of one experiment, a [Model] for each process in the
// order of the configuration; it is what deft run prints and keeps as run.json.
// A [Comparison] sets it beside the same models alone on the device: inflation is
// shared mean completion time over the one alone, less 1. Fairness is Jain's
// index over the progress of the models, 1 where all are slowed alike. A report
// can be made from logs of completion times too, without what only the
// supervisor knows (launches, synchronization points, stalls).
//
// The package refuses to compare models that are not the same by name, and an
// experiment without a finished job.
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
//	fmt.Println(c.Models[1].Inflation, c.Jain)
package report
