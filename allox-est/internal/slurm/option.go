package slurm

import (
	"slices"
	"strings"
)

// Options of sbatch that only one of the two jobs takes: a time limit is that of the
// samples, an array, a dependency and a minimum time are those of the whole job.
var (
	limits  = []string{"--time", "-t"}
	onlyJob = []string{"--array", "-a", "--dependency", "-d", "--time-min"}
)

// labels are options that change neither the resources of a job nor its run time.
var labels = []string{"--output", "-o", "--error", "-e", "--job-name", "-J", "--comment", "--mail-type", "--mail-user", "--parsable"}

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
// space or, of a letter, nothing. A long name may be cut short, as getopt_long allows.
func is(option string, names []string) bool {
	long, _, _ := strings.Cut(strings.ReplaceAll(option, " ", "="), "=")
	for _, name := range names {
		if least := shortest[name]; least != "" && strings.HasPrefix(long, least) && strings.HasPrefix(name, long) {
			return true
		}
		rest, found := strings.CutPrefix(option, name)
		if found && (rest == "" || strings.IndexAny(rest, "= ") == 0 || len(name) == 2) {
			return true
		}
	}
	return false
}

// shortest holds the shortest unambiguous abbreviation of each long option: --tim is
// ambiguous.
var shortest = map[string]string{"--array": "--ar", "--dependency": "--dep", "--time-min": "--time-"}

// sampleEnv returns an environment without the variable that would make the samples an
// array (sbatch(1), input environment variables).
func sampleEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(s string) bool { return strings.HasPrefix(s, "SBATCH_ARRAY_INX=") })
}

// keepForSamples returns the directives that a job of samples takes.
func keepForSamples(directives []string) []string {
	var kept []string
	for _, d := range directives {
		option := strings.TrimSpace(strings.TrimPrefix(d, "#SBATCH"))
		if !is(option, onlyJob) {
			kept = append(kept, d)
		}
	}
	return kept
}
