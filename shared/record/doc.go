// Package record keeps a user's predictions and, once they are known, their
// outcomes in one append-only log. An outcome counts once, for the latest open
// prediction of the same question and key. [Book.Standing] reports the coverage of
// past intervals, and [Book.Predict] widens or narrows the next interval accordingly
// (quantile tracking). Keys are written as hashes: the log contains no names of
// jobs, files or users.
//
// An error in the log never stops a command: a line that cannot be read is moved to
// record.jsonl.bad, a line of a newer version is kept, and a file that cannot be
// used gives a warning.
//
//	book := &record.Book{Path: path}
//	p := book.Predict(now, record.Question{"edgeprof", "rank"}, key, predicted)
//	...
//	err := book.Outcome(now, record.Question{"edgeprof", "rank"}, key, measured)
package record
