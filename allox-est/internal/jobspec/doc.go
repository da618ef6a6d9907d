// Package jobspec describes a training job: what to execute, for how many
// epochs, on which devices, and how its progress is seen.
//
// It decides for its caller how a command line is made from the template, what
// of a description identifies the job (its hash), and which lengths a pair of
// samples has. It refuses fields it does not know, parameters that are never
// used or never given, and a job whose length cannot be set.
//
//	name: lenet
//	command: [./run.sh, "{lr}", "{epochs}", "{hw}"]
//	params: {lr: 0.1}
//	epochs: 250
//	devices:
//	  cpu: {threads: 1}
//	  gpu: {count: 1}
package jobspec
