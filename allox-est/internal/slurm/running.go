package slurm

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Running is a job as the scheduler shows it.
type Running struct {
	State   string // such as RUNNING
	Log     string // its standard output
	Elapsed time.Duration
	Limit   time.Duration // 0 without one
}

// parseRunning reads the first record of scontrol: NAME=VALUE, where a value may hold
// spaces.
func parseRunning(text string) (r Running, err error) {
	line, _, _ := strings.Cut(text, "\n")
	values := map[string]string{}
	name := ""
	for word := range strings.FieldsSeq(line) {
		if key, value, found := strings.Cut(word, "="); found && key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/:_") == "" && key[0] >= 'A' && key[0] <= 'Z' {
			name = key
			values[name] = value
		} else if name != "" {
			values[name] += " " + word
		}
	}
	r.State, r.Log = values["JobState"], values["StdOut"]
	if r.State == "" {
		return r, fmt.Errorf("%w: scontrol shows no job: %.80q", ErrSlurm, line)
	}
	if r.Elapsed, err = parseTime(values["RunTime"]); err != nil {
		return r, err
	}
	if limit := values["TimeLimit"]; limit != "UNLIMITED" && limit != "Partition_Limit" {
		r.Limit, err = parseTime(limit)
	}
	return r, err
}

// parseTime reads a time of Slurm: [days-]hours:minutes:seconds.
func parseTime(text string) (time.Duration, error) {
	days, rest, found := strings.Cut(text, "-")
	if !found {
		days, rest = "0", text
	}
	seconds, err := strconv.Atoi(days)
	parts := strings.Split(rest, ":")
	seconds *= 24
	for i, unit := range []int{1, 60, 60} {
		if i >= len(parts) || err != nil {
			return 0, fmt.Errorf("%w: %q is not a time", ErrSlurm, text)
		}
		var n int
		n, err = strconv.Atoi(parts[i])
		seconds = seconds*unit + n
	}
	if err != nil || len(parts) != 3 {
		return 0, fmt.Errorf("%w: %q is not a time", ErrSlurm, text)
	}
	return time.Duration(seconds) * time.Second, nil
}
