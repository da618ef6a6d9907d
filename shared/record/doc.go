// Package record keeps a user's predictions and, once they are known, their
// outcomes in one append-only log. An outcome counts once, for the latest open
// prediction of the same question and key. [Book.Standing] reports how often
// intervals held, and [Book.Predict] widens or narrows the next interval by that
// (quantile tracking). Keys are written as hashes: the log names no job, file or
// user.
//
// The log never stops its user: a line that cannot be read is moved to
// record.jsonl.bad, a line of a newer version stays, and a file that cannot be
// used is a warning.
//
//	book := &record.Book{Path: path}
//	p := book.Predict(now, record.Question{"edgeprof", "rank"}, key, predicted)
//	...
//	err := book.Outcome(now, record.Question{"edgeprof", "rank"}, key, measured)
package record
