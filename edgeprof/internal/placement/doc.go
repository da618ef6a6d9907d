// Package placement ranks devices for a model.
//
// It decides by the predicted time on each device as it is loaded now, the
// shortest first, ties by name. Where the times come from is an [Estimator]:
// [Graph] is that of a model whose graph is known. A device that cannot be
// estimated, or cannot hold the model in memory, is left out with its reason.
//
// A [Request] is the original service's: seven counts of a model in, the fastest
// device out. [ParseRequest] decides which make sense and names every field of one
// that does not; [AppendAnswer] writes the answer in the original's own form: keys
// sorted, indented by two, text in ASCII, and every number of the request in the
// spelling that it came in, so that 10000000000000000000 stays what it is. How long
// a model takes of which only the counts are known is the power law of [FitLaw]; a
// model's own file says much more.
package placement
