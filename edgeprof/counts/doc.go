// Package counts is the profiling request of the original service: seven
// counts of a model in, the fastest device out.
//
// It decides which requests make sense ([Parse]) and names every field of one
// that does not; it writes the answer in the original's own form ([Append]):
// keys sorted, indented by two, text in ASCII, and every number of the request
// in the spelling that it came in, so that 10000000000000000000 stays what it
// is. How long a model takes of which only the counts are known is the power
// law of [Fit]; a model's own file says much more, and package profiler reads
// it.
package counts
