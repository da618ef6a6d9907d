// Package task turns the events of many threads into tasks, and stores their runs in logs.
//
// A [Tracker] reports for each task where it was created, its sizes, how long it waited and
// how long it ran. It joins events of different rings: a task is identified by its token, a
// nested task suspends the one around it, and every creation that happened before a start is
// processed before it. An end without its start, or a start whose creation was dropped, is
// counted in [Counts] and not reported to an observer.
//
// A [Writer] writes two layouts: a CSV with a header, and the tab layout of the original
// tool, for existing parsers. [Scan] reads both and two published layouts of iteration
// loads. A bad line is a diagnostic with file and line. A log that can no longer be written
// is closed with one error, and its further rows are counted. Times that are not finite and
// files without a usable line ([ErrEmpty]) are errors.
package task
