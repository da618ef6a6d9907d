package slurm

import (
	"math"
	"slices"
	"strings"
)

// Memory is a limit of a job's memory.
type Memory struct {
	PeakBytes int64 `json:"peak_bytes"` // of the runs so far
	// GPUPeak is the most by which memory in use on GPUs grew in them; 0 if that is not known.
	GPUPeak  int64 `json:"gpu_peak_bytes,omitempty"`
	LimitMiB int64 `json:"limit_mib"`
	// Kill is an upper bound of the probability that a run like those exceeds the limit.
	Kill float64 `json:"killed_probability_at_most"`
}

// memoryMargin is the limit relative to the largest peak so far: what a batch script and its
// step need in addition to the job, and how much a peak differs from run to run, is not known.
const memoryMargin = 1.5

// MemoryFor returns a limit from the largest peak of so many runs. Each of n runs and the next
// one is equally likely to have the largest peak, so the next one exceeds the others with a
// probability of 1/(n+1) (V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random
// World, 2005). The margin makes it less likely, by an unknown amount.
func MemoryFor(peak int64, runs int) Memory {
	mib := math.Ceil(memoryMargin * float64(peak) / (1 << 20))
	return Memory{PeakBytes: peak, LimitMiB: int64(max(1, mib)), Kill: 1 / float64(runs+1)}
}

// AsksMemory reports whether the script, or an option of sbatch, asks for memory already.
func (s *Script) AsksMemory(options []string) bool {
	words := slices.Clone(options)
	for _, d := range s.Directives {
		words = append(words, strings.TrimSpace(strings.TrimPrefix(d, "#SBATCH")))
	}
	return slices.ContainsFunc(words, func(o string) bool { return strings.HasPrefix(o, "--mem") })
}
