// Package kernel is what a run time executes of a model, one row for each: what
// it computes and moves, known before it runs, and how long it took, once it
// has.
//
// It decides which nodes a run time joins ([FusionOf]) and which kernel the time
// of a profiled node belongs to ([Times]). Collecting writes rows and predicting
// reads them; neither needs the other.
package kernel
