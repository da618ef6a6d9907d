// Package plot draws experiments: completion times over time, their
// distribution, what a synchronization interval costs, and queues.
//
// It decides which figure shows what; the looks are those of package chart. The
// time series has Deft's axes: the end of a job in seconds since the first job of
// all began, against its completion time in ms, warm-up jobs left out. It refuses
// what has nothing to show: chart.ErrEmpty.
//
//	a, err := jct.Load("logs/model_A.csv")
//	if err != nil {
//		return err
//	}
//	b, err := jct.Load("logs/model_B.csv")
//	if err != nil {
//		return err
//	}
//	err = chart.Save("jct_vs_t.svg", plot.TimeSeries([]plot.Named{{"model_A", a}, {"model_B", b}}))
package plot
