// Package sweep runs one experiment under several synchronization intervals and
// says what each cost.
//
// It decides which models the interval is for (those below the highest priority
// of the experiment, or all where they are equal), measures each model alone
// first, and sums the delays: mean completion time shared less the one alone, of
// all models. A sweep is kept as JSON; [Sweep.Predict] fits the delay predictor
// to it and compares its choice with the best interval measured. It refuses
// intervals below 1 and an empty list.
//
//	s, err := sweep.Run(ctx, x, []int{1, 4, 16, 64, 1000000}, play)
//	if err != nil {
//		return err
//	}
//	p, err := s.Predict(nil)
//	if err != nil {
//		return err
//	}
//	fmt.Println(p.Best.Sync, p.Regret)
package sweep
