// Package mixture weights a few experts by their errors and answers with their weighted
// median.
//
// The weights are those of AdaHedge (de Rooij, van Erven, Grünwald and Koolen, "Follow the
// Leader If You Can, Hedge If You Must", JMLR 15, 2014, section 2): exponential in the loss
// of an expert, at a rate that follows from the losses themselves. An expert without an
// answer sleeps: it is charged the mean loss of the others (Freund, Schapire, Singer and
// Warmuth, "Using and Combining Predictors That Specialize", STOC 1997). No weight falls
// below a floor, so the weights follow an expert that was bad and is good now (Herbster and
// Warmuth, "Tracking the Best Linear Predictor", JMLR 1, 2001).
//
// Answers are logarithms and the loss is their distance from the truth, at most 1 if they are
// too low. It grows on both sides of the truth, so the weighted median never loses more than
// twice the experts' weighted mean: half of the weight lies on its side of the truth or
// beyond. If all experts sleep, there is no answer.
package mixture
