// Package task turns the events of many threads into tasks, and keeps their runs in
// logs.
//
// A [Tracker] says of each task where it came from, what it was given, how long it
// waited and how long it ran. It decides how events of different rings belong
// together: a task is known by its token, a nested task suspends the one around
// it, and every creation that happened before a start is taken before it. It
// refuses to guess: an end without its start, or a start whose creation was
// dropped, is counted in [Counts] and reported to nobody.
//
// A [Writer] writes two layouts: our CSV with a header, which [LoadLog] reads back
// and any other tool can, and the tab layout of the original tool, for the parsers
// that people have. LoadLog reads those two and the two published layouts of
// iteration loads. A bad line is a diagnostic with file and line; a log that can no
// longer be written is given up once, with an error, and its further rows are
// counted. Times that are not finite are refused, and files with no usable line
// ([ErrEmpty]).
package task
