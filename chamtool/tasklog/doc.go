// Package tasklog reads and writes the logs of task runs.
//
// It writes two layouts: our CSV with a header, which [Load] reads back and any
// other tool can, and the tab layout of the original tool, for the parsers that
// people have. It reads those two and the two published layouts of iteration
// loads. It decides that a bad line is a diagnostic with file and line, and
// that a log that can no longer be written is given up once, with an error, and
// its further rows counted. It refuses times that are not finite, and files
// with no usable line ([ErrEmpty]).
package tasklog
