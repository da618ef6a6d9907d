// Package slurm makes samples of a job where a Slurm cluster would run it, as one
// short batch job, and submits the job itself with the time limit that follows.
package slurm
