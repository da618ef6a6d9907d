// Package samples generates the training data of models: for a service pair at a
// decision, the history of the queue up to the decision, and the reward of submitting
// the successor then.
//
// A history is 144 snapshots, one every ten minutes, which a sample holds in summary
// ([SummaryColumns] names its features). It never reaches past its decision.
//
// [Plan.Generate] simulates episodes. A directory holds the samples of one plan in one
// file, with the same bytes from any number of workers.
package samples
