// Package remote makes single runs of a job on other machines, by ssh or through
// a Slurm cluster, so that each device's samples come from where it is.
//
// It decides nothing about the samples: the other machine runs allox-est, which
// measures as it does here and returns the run as a line of the journal. It
// refuses to copy anything: the program and the job's files must be found there at
// the same paths.
package remote
