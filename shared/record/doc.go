// Package record keeps a user's predictions and, once they are known, their
// outcomes: outcome against prediction, the last stage of the flow, in one
// append-only log.
//
// It decides how an outcome finds its prediction (the latest open one of the
// same question and key), how often intervals held ([Book.Standing]) and how the
// next interval is widened or narrowed by that ([Book.Correct], quantile
// tracking). It refuses to keep what was asked: of a key only a hash is written,
// so that the log names no job, file or user.
//
//	book := record.Book{Path: path}
//	p, err := book.Predict(now, record.Question{"edgeprof", "rank"}, key, predicted)
//	...
//	err = book.Outcome(now, record.Question{"edgeprof", "rank"}, key, measured)
package record
