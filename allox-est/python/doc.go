// Package python embeds time_writter.py, the time writer for training jobs in
// Python: a file to copy next to the job. It has no dependencies.
// time_writter_callbacks.py calls it from the loops of PyTorch Lightning, Keras and
// Hugging Face. allox_est.py, which starts the program, and _track.py, its progress bar,
// are in the wheel of a release.
//
// The file is embedded to let commands write it out and tests check it with the Go
// parser.
package python

import _ "embed"

// TimeWriter is the text of time_writter.py.
//
//go:embed time_writter.py
var TimeWriter []byte
