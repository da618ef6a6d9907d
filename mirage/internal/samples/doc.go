// Package samples generates the training data of models: for a service pair at a
// decision, the history of the queue up to the decision, and the reward of submitting
// the successor then.
//
// A history is 144 snapshots of 42 features, one every ten minutes ([Columns] names
// them). It never reaches past its decision.
//
// [Plan.Generate] simulates episodes in blocks of a few. A block is one file, written
// whole or not at all, with the same bytes from any number of workers, so a killed run
// can continue.
package samples
