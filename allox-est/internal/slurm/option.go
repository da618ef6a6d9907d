package slurm

import "strings"

// What an option of sbatch is for: a time limit is that of one job, and an array, a
// dependency or a least time belongs to the whole job, not to its samples.
var (
	limits  = []string{"--time", "-t"}
	onlyJob = []string{"--array", "-a", "--dependency", "-d", "--time-min"}
)

// ForSamples returns the options of sbatch that a job of samples takes.
func ForSamples(options []string) []string { return without(options, onlyJob) }

// ForJob returns the options of sbatch that the whole job takes: its time limit is the
// predicted one.
func ForJob(options []string) []string { return without(options, limits) }

func without(options, names []string) []string {
	var kept []string
	for _, o := range options {
		if !is(o, names) {
			kept = append(kept, o)
		}
	}
	return kept
}

// is says that an option has one of the names: alone, or with its value after "=", a
// space or, of a letter, nothing.
func is(option string, names []string) bool {
	for _, name := range names {
		rest, found := strings.CutPrefix(option, name)
		if found && (rest == "" || strings.IndexAny(rest, "= ") == 0 || len(name) == 2) {
			return true
		}
	}
	return false
}

// sampled returns the directives that a job of samples takes.
func sampled(directives []string) []string {
	var kept []string
	for _, d := range directives {
		option := strings.TrimSpace(strings.TrimPrefix(d, "#SBATCH"))
		if !is(option, onlyJob) {
			kept = append(kept, d)
		}
	}
	return kept
}
