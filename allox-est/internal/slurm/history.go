package slurm

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Ended is a job, or a task of an array, that completed or hit its time limit.
type Ended struct {
	Job     string // number of the job; of a task, that of its array
	Seconds float64
	Cut     bool // at its time limit
	Start   time.Time
	Dir     string   // in which it was submitted
	Command []string // words of the command that submitted it
}

// slurmTime is the standard format of times in Slurm, without a zone: local time.
const slurmTime = "2006-01-02T15:04:05"

// parseEnded reads a line of History's format; false for a job that did not end by itself
// or at its limit, and for the second line of a command that holds a line break.
func parseEnded(line string) (job Ended, ok bool) {
	fields := strings.SplitN(line, "|", 6)
	if len(fields) != 6 || fields[1] != "COMPLETED" && fields[1] != "TIMEOUT" {
		return job, false
	}
	seconds, err := strconv.ParseFloat(fields[2], 64)
	start, startErr := time.ParseInLocation(slurmTime, fields[3], time.Local)
	if err != nil || startErr != nil {
		return job, false
	}
	number, _, _ := strings.Cut(fields[0], "_")
	return Ended{number, seconds, fields[1] == "TIMEOUT", start, fields[4], strings.Fields(fields[5])}, true
}

// Total returns the seconds that count for a prediction. Slurm records the beginning and
// the end in whole seconds, so a job may have taken up to one second more than their
// difference, and counts with it. A job that hit its limit would have taken longer, and
// counts with twice the limit.
func (e Ended) Total() float64 {
	if e.Cut {
		return 2 * e.Seconds
	}
	return e.Seconds + 1
}

// Ran says that a job ran the script with these arguments, and was submitted with options
// that ask for the same resources; time limits, arrays, dependencies and names may differ. Where
// sacct knows no command it did not.
func (e Ended) Ran(script string, options, args []string) bool {
	words := strings.Fields(strings.Join(args, " "))
	n := len(e.Command) - len(words)
	if n < 2 || !slices.Equal(e.Command[n:], words) {
		return false
	}
	path := e.Command[n-1]
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.Dir, path)
	}
	return path == script && slices.Equal(resources(e.Command[1:n-1]), resources(options))
}

// resources returns the sorted words of options that ask for resources: without time
// limits, arrays, dependencies and names.
func resources(options []string) []string {
	var kept []string
	others := slices.Concat(limits, onlyJob, labels)
	words := strings.Fields(strings.Join(options, " "))
	for i := 0; i < len(words); i++ {
		switch {
		case !is(words[i], others):
			kept = append(kept, words[i])
		case words[i] != "--parsable" && slices.Contains(others, words[i]):
			i++ // its value
		}
	}
	slices.Sort(kept)
	return kept
}
