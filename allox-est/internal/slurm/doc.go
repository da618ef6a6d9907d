// Package slurm samples a job on its Slurm cluster, as one short batch job, and submits
// the job with the time limit from the estimate.
package slurm
