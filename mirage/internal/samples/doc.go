// Package samples makes what models learn from: for a service pair at some
// decision, the history of the queue up to that decision, and the reward that
// came of submitting the successor then.
//
// A history is 144 snapshots of 42 features, one each ten minutes ([Columns]
// names them). The package decides when snapshots are taken and what they
// hold; it refuses to let a history know anything later than its decision.
//
// [Plan.Generate] plays episodes in blocks of a few. A block is one file,
// written whole or not at all, with the same bytes from whatever shard and
// however many work at once; so a run that was killed goes on where it was,
// and shards of a run on many machines put together are the run.
package samples
