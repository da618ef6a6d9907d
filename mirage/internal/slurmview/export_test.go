package slurmview

import "math/rand/v2"

// Share draws the share of its limit that a job of the Lonestar6 A100 queue ran.
func Share(rng *rand.Rand) float64 { return share(rng, shares[:]) }
