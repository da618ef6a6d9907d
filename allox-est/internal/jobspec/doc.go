// Package jobspec describes a training job: its command, number of epochs, devices and
// progress.
//
// It expands the command line from its template, computes the hash that identifies the
// job, and chooses the lengths of samples. Unknown fields, parameters that are
// not used or not given, and a job whose length cannot be set are errors.
//
//	name: lenet
//	command: [./run.sh, "{lr}", "{epochs}", "{hw}"]
//	params: {lr: 0.1}
//	epochs: 250
//	devices:
//	  cpu: {threads: 1}
//	  gpu: {count: 1}
package jobspec
