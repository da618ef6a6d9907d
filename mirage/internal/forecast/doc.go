// Package forecast predicts when a job would start: from a [Log], or from a view of a live
// Slurm ([Live]). An [Answer] also names the shorter and smaller shapes of the job and
// the partitions that would start earlier, and notes where it extrapolates.
//
// A job that can never start is a [QuestionError].
package forecast
