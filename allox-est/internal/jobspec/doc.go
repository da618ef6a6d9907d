// Package jobspec describes a training job: its command, number of epochs, devices and
// progress.
//
// It expands the command line from its template, computes the hash that identifies the
// job, and chooses the lengths of samples. Unknown fields, parameters that are
// not used or not given, and a job whose length cannot be set are errors.
package jobspec
