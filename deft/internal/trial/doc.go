// Package trial runs an experiment: on the virtual clock of package simulator,
// or with real processes under the hook, supervised by the same policy.
//
// It decides what a model's process is (its kernel profile, its terms with the
// policy), the order of a run (every model loads and plays a warm-up job, waits
// at a barrier until all have, then all go), and which files are left: a log of
// completion times for each model, its standard error, models_pid.json and
// run.json. It refuses to go on without one of its models: a process that ends
// before the barrier, or with an error after it, ends the run with the last
// lines it wrote, and no process outlives the run.
//
// A [Sweep] is one experiment under several synchronization intervals, which are
// for the models below the highest priority, or for all where they are equal. Each
// model is measured alone first; delays are mean completion time shared less the
// one alone, summed. [Sweep.Choose] fits the delay predictor to it and compares its
// choice with the best interval measured.
//
//	x, err := experiment.Load("input.json")
//	if err != nil {
//		return err
//	}
//	outcome, err := trial.Virtual(ctx, x)
//	if err != nil {
//		return err
//	}
//	if err := outcome.Save(); err != nil {
//		return err
//	}
//	fmt.Println(outcome.Run.Models[0].JCT.Mean)
package trial
