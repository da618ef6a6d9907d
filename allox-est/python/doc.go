// Package python carries time_writter.py, the time writer for training jobs in
// Python: a file to copy beside the job. time_writter_callbacks.py, beside it,
// calls it from the loops of PyTorch Lightning, Keras and Hugging Face.
// allox_est.py, which starts the program, is in the wheel of a release.
//
// It decides nothing in Go; the file is here so that programs can hand it out
// and tests can hold it against the Go parser. It refuses to need installing.
//
// A complete program:
//
//	os.WriteFile("time_writter.py", python.TimeWriter, 0o644)
package python

import _ "embed"

// TimeWriter is the text of time_writter.py.
//
//go:embed time_writter.py
var TimeWriter []byte
