// Package slurmtest starts a real Slurm cluster for a test.
package slurmtest
