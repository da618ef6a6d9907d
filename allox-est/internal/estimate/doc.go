// Package estimate says how long a job will take, from short runs of it.
//
// It decides for its caller where a job's set-up ends and its warm-up, its
// steady epochs and its teardown begin, whether an unusual epoch is the job's
// own cost, which will come again, or the machine's, which may not, and how
// wide an honest interval is. It refuses to answer from no run, from runs of
// one length where a line is needed, and from values that are not finite. What
// the runs cannot show becomes warnings.
package estimate
