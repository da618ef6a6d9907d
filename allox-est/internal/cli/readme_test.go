package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/cli/scripttest"
)

// shape masks what differs from run to run: digits, the width of columns, and
// what depends on how busy the machine is: warnings, doubt, and whether a job that
// sleeps was ever seen on a processor, to be read there. How much was sampled
// stays as it is.
func shape(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "warning:") || strings.HasPrefix(line, "---") || line == "\n" || strings.Contains(line, "at reference speed") || strings.Contains(line, "not enough to tell") {
			continue
		}
		if sampled, _, ok := strings.Cut(line, " epochs and "); ok {
			lines = append(lines, sampled)
			continue
		}
		line = regexp.MustCompile(`[+-]?[0-9][0-9.e+-]*`).ReplaceAllString(line, "0")
		line = regexp.MustCompile(`auto/\w+`).ReplaceAllString(line, "auto")
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// wall reads the estimate of the wall time as now.
func wall(ts *testscript.TestScript, text string) (estimate, low, high float64) {
	row := regexp.MustCompile(`(?m)^cpu +wall as now +(\S+) +(\S+) +(\S+)`).FindStringSubmatch(text)
	if row == nil {
		ts.Fatalf("no wall time in\n%s", text)
	}
	for i, to := range []*float64{&estimate, &low, &high} {
		if _, err := fmt.Sscan(row[i+1], to); err != nil {
			ts.Fatalf("%v", err)
		}
	}
	return estimate, low, high
}

// TestReadme runs the command of the README's first screen and compares the
// shape of its output.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```console\n$ ")
	block, _, _ := strings.Cut(rest, "```")
	command, want, ok := strings.Cut(block, "\n")
	if !ok {
		t.Fatal("the README begins without a command")
	}
	script := filepath.Join(t.TempDir(), "readme.txt")
	if err := os.WriteFile(script, []byte("exec "+command+"\nshape stdout\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	scripttest.Run(t, testscript.Params{
		Files: []string{script},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"shape": func(ts *testscript.TestScript, _ bool, args []string) {
				if got := shape(ts.ReadFile(args[0])); got != shape(want) {
					ts.Fatalf("the README says\n%s\nbut the command prints\n%s", shape(want), got)
				}
				estimate, low, high := wall(ts, ts.ReadFile(args[0]))
				// The job sleeps for 3 s, noise of 3 % apart, and more where it wakes late.
				if !(low <= estimate && estimate <= high && high > 2.7 && estimate > 1.5) {
					ts.Fatalf("a job of 3 s: estimated %v s, %v to %v", estimate, low, high)
				}
			},
		},
	})
}
