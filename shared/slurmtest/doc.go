// Package slurmtest starts a real Slurm of its own for a test.
package slurmtest
