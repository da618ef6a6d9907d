package slurm

import (
	"slices"
	"testing"
)

// The user's time limit is the samples', an array or a dependency the job's.
func TestOptions(t *testing.T) {
	options := []string{"--time=2:00:00", "-t 10", "-t10", "--time-min=1:00", "--array=1-9", "-a 1-9", "--dependency=afterok:7", "-d afterok:7", "--arr=1-3", "--depend=singleton", "--time-=5", "--partition=gpu", "--distribution=block", "--tres-per-task=cpu:2"}
	plain := []string{"--partition=gpu", "--distribution=block", "--tres-per-task=cpu:2"}
	if got, want := ForSamples(options), append([]string{"--time=2:00:00", "-t 10", "-t10"}, plain...); !slices.Equal(got, want) {
		t.Errorf("samples: %q, want %q", got, want)
	}
	if got, want := ForJob(options), append(slices.Clone(options[3:11]), plain...); !slices.Equal(got, want) {
		t.Errorf("job: %q, want %q", got, want)
	}
	if got := keepForSamples([]string{"#SBATCH -N 1", "#SBATCH --array=1-9", "#SBATCH -d singleton", "#SBATCH --time=10"}); !slices.Equal(got, []string{"#SBATCH -N 1", "#SBATCH --time=10"}) {
		t.Errorf("directives: %q", got)
	}
}

// The environment's array is not one of samples.
func TestSampleEnv(t *testing.T) {
	got := sampleEnv([]string{"A=1", "SBATCH_ARRAY_INX=1-9", "SBATCH_PARTITION=gpu"})
	if !slices.Equal(got, []string{"A=1", "SBATCH_PARTITION=gpu"}) {
		t.Errorf("%q", got)
	}
}
