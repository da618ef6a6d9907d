package timing

import (
	"io"
)

// The tags of the time-writer protocol. The spelling is the protocol's own.
const (
	OpenTag  = "<TIME_WRITTER_OUTPUT>"
	CloseTag = "</TIME_WRITTER_OUTPUT>"
)

// TimeWriter is the job's side of the time-writer protocol. Its output is byte for
// byte that of the protocol's Python module for the same laps. It is not safe for
// concurrent use.
type TimeWriter struct {
	out  io.Writer
	laps Laps
}

// NewTimeWriter returns a TimeWriter that prints to out and reads now.
func NewTimeWriter(out io.Writer, now Clock) *TimeWriter {
	return &TimeWriter{out: out, laps: Laps{Now: now}}
}

// Start marks the beginning of the set-up.
func (w *TimeWriter) Start() { w.laps.Start() }

// LogUpdate ends a lap. Before Start it returns ErrNotStarted and records
// nothing.
func (w *TimeWriter) LogUpdate() error {
	_, err := w.laps.Lap()
	return err
}

// GetResults returns the laps so far as the protocol's text, without a newline.
func (w *TimeWriter) GetResults() string {
	return string(append(AppendReprList([]byte(OpenTag), w.laps.Seconds()), CloseTag...))
}

// PrintResults prints GetResults and a newline in one write. Each further report
// extends the one before.
func (w *TimeWriter) PrintResults() error {
	_, err := io.WriteString(w.out, w.GetResults()+"\n")
	return err
}
