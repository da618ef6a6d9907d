package event

// Graph holds the graph of an OpenMP program's tasks in ticks, from the first creation to the end of
// the last iteration, as the C side computes it while the program runs. With any number of threads a
// program takes at least its span, and with P threads at least its work / P.
type Graph struct {
	Work  uint64 // computed in tasks, and in regions outside of waits
	Span  uint64 // longest chain of work in which each part waits for the one before
	Parts []PathPart
	Lost  uint64 // dependences that the C side had no memory for: the span is at least as long
}

// PathPart is the part of the span that belongs to one construct.
type PathPart struct {
	Place   uint64 // of the construct; 0 outside of tasks, and for the constructs beyond the first eight
	Outside bool
	Ticks   uint64
}
