package slurm

import (
	"strings"
	"testing"
	"time"
)

// Only jobs that completed or hit their limit count; a task has its array's number, and a
// command may hold bars and line breaks.
func TestParseEnded(t *testing.T) {
	for _, c := range []struct {
		line string
		want string // number, seconds of a prediction, last word; empty if it does not count
	}{
		{"12|COMPLETED|100|2026-11-26T10:00:00|/home/a|sbatch train.sbatch --epochs 5", "12 1m41s 5"},
		{"12_3|COMPLETED|0|2026-11-26T10:00:00|/home/a|sbatch -a 1-9 train.sbatch a|b", "12 1s a|b"},
		{"12|TIMEOUT|100|2026-11-26T10:00:00|/home/a|sbatch train.sbatch", "12 3m20s train.sbatch"},
		{"12|FAILED|100|2026-11-26T10:00:00|/home/a|sbatch train.sbatch", ""},
		{"12|CANCELLED by 5|100|2026-11-26T10:00:00|/home/a|sbatch train.sbatch", ""},
		{"12|COMPLETED|100|Unknown|/home/a|sbatch train.sbatch", ""},
		{"12|COMPLETED||2026-11-26T10:00:00|/home/a|sbatch train.sbatch", ""},
		{"second line of a command", ""},
		{"", ""},
	} {
		job, ok := parseEnded(c.line)
		got := ""
		if ok {
			seconds := time.Duration(job.Total() * float64(time.Second))
			got = strings.Join([]string{job.Job, seconds.String(), job.Command[len(job.Command)-1]}, " ")
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

// A job of the same script, arguments and resources is one more run of it, whatever its
// time limit, array or dependency.
func TestRan(t *testing.T) {
	options, args := []string{"--partition=gpu", "--time=30"}, []string{"--epochs", "500"}
	for command, want := range map[string]bool{
		"sbatch --partition=gpu train.sbatch --epochs 500":                         true,
		"sbatch --time=05:00 --partition=gpu /home/a/train.sbatch --epochs 500":    true,
		"sbatch -t 5 --partition=gpu --parsable train.sbatch --epochs 500":         true,
		"sbatch -a 1-3 -d singleton -t5 --partition=gpu train.sbatch --epochs 500": true,
		"sbatch -J a -o x.%j --partition=gpu train.sbatch --epochs 500":            true,
		"sbatch train.sbatch --epochs 500":                                         false,
		"sbatch --partition=cpu train.sbatch --epochs 500":                         false,
		"sbatch --partition=gpu train.sbatch --epochs 50":                          false,
		"sbatch --partition=gpu other.sbatch --epochs 500":                         false,
		"sbatch --partition=gpu /home/b/train.sbatch --epochs 500":                 false,
		"--epochs 500": false,
		"":             false,
	} {
		job := Ended{Dir: "/home/a", Command: strings.Fields(command)}
		if got := job.Ran("/home/a/train.sbatch", options, args); got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}
