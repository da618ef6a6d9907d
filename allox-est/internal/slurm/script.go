package slurm

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/foretime/foretime/shared/file"
)

// ErrScript is returned for a file that is no batch script.
var ErrScript = errors.New("not a batch script")

// Script is a batch script.
type Script struct {
	Path string
	// Interpreter is the program of the first line, with its arguments.
	Interpreter []string
	// Directives are the lines that sbatch reads, #SBATCH and all.
	Directives []string
}

// Read reads a batch script: its first line names an interpreter, and its
// directives end at the first line that is no comment (sbatch(1)). The error
// wraps ErrScript.
func Read(path string) (*Script, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &Script{Path: path}
	lines := bufio.NewScanner(f)
	for first := true; lines.Scan(); first = false {
		line := lines.Text()
		if first {
			interpreter, ok := strings.CutPrefix(line, "#!")
			if s.Interpreter = strings.Fields(interpreter); !ok || len(s.Interpreter) == 0 {
				return nil, fmt.Errorf("%s: %w: the first line is not #! and a program", path, ErrScript)
			}
			continue
		}
		if strings.HasPrefix(line, "#SBATCH") {
			s.Directives = append(s.Directives, line)
		}
		if trimmed := strings.TrimSpace(line); trimmed != "" && trimmed[0] != '#' {
			break
		}
	}
	if s.Interpreter == nil {
		return nil, fmt.Errorf("%s: %w: empty", path, ErrScript)
	}
	return s, lines.Err()
}

// Command returns the command that runs the script outside of Slurm, with its arguments.
func (s *Script) Command(args ...string) []string {
	return append(append(append([]string{}, s.Interpreter...), s.Path), args...)
}

// wrap returns a script of the directives that samples take, which runs another command.
func (s *Script) wrap(argv []string) string {
	return "#!/bin/sh\n" + strings.Join(keepForSamples(s.Directives), "\n") + "\nexec " + Quote(argv) + "\n"
}

// Quote returns a command line as it can be given to a shell. Words without special characters
// are left as they are.
func Quote(argv []string) string {
	quoted := make([]string, len(argv))
	for i, word := range argv {
		quoted[i] = word
		if word == "" || strings.Trim(word, plainCharacters) != "" {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// plainCharacters have no meaning to a shell inside of a word.
const plainCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%"

// Minutes returns a number of seconds in the minutes in which Slurm counts, rounded up; what
// rounding adds to whole minutes is no other minute.
func Minutes(seconds float64) int64 { return int64(max(1, math.Ceil(seconds/60-1e-9))) }

// Limit returns a number of seconds as sbatch takes a time limit, rounded up to the
// minutes in which Slurm counts: HOURS:MINUTES:SECONDS.
func Limit(seconds float64) string {
	minutes := Minutes(seconds)
	return fmt.Sprintf("%02d:%02d:00", minutes/60, minutes%60)
}
