// Package transfer predicts the latencies of a new device from a few models measured on it
// and from the latencies of all models on many devices.
//
// [Model.ChooseAnchors] chooses the models to measure: those that reduce the uncertainty about
// the others most. The others are predicted by the mean of three methods over configurations (a
// board in one setting of threads, power and processor): ridge regression on the anchors, the
// nearest runs, and a few factors. Intervals come from the errors on chips that were left
// out. A table with fewer chips than folds is an error ([ErrTooFew]); no prediction for a
// chip uses other rows of that chip than its anchors.
package transfer
