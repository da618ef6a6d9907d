package suite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
)

// Run executes `go test -json ARGS` in dir, prints one line per package to
// progress as it ends, and returns the count. The error says that the go
// command itself could not be run; failed tests are in the Result.
func Run(ctx context.Context, dir string, args []string, progress io.Writer) (*Result, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("go test: %w", err)
	}
	result, readErr := Read(stdout, progress)
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("go test: %w", err)
	}
	if readErr != nil {
		return nil, fmt.Errorf("go test: %w", readErr)
	}
	if err != nil && len(result.Failures) == 0 {
		result.Failures = append(result.Failures, Failure{Package: "go test", Output: stderr.String()})
	}
	return result, ctx.Err()
}

// event is one line of `go test -json` (cmd/test2json), with the build
// events that the go command mixes in.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

type key struct{ pkg, test string }

// Read counts a stream of test events. A line that is no event is printed to
// progress as it is.
func Read(events io.Reader, progress io.Writer) (*Result, error) {
	result := &Result{}
	output := map[key]*strings.Builder{}
	build := map[string]*strings.Builder{}
	failed := map[string]int{} // failed tests by package
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				progress.Write(line)
			} else {
				result.count(e, output, build, failed, progress)
			}
		}
		if errors.Is(err, io.EOF) {
			return result, nil
		}
		if err != nil {
			return result, err
		}
	}
}

func (r *Result) count(e event, output map[key]*strings.Builder, build map[string]*strings.Builder, failed map[string]int, progress io.Writer) {
	k := key{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		grow(build, e.ImportPath).WriteString(e.Output)
	case e.Action == "output":
		grow(output, k).WriteString(e.Output)
	case e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
		fmt.Fprintf(progress, "%-4s %s %.1fs\n", e.Action, e.Package, e.Elapsed)
		if e.Action == "fail" && failed[e.Package] == 0 {
			text := grow(output, k).String()
			if e.FailedBuild != "" {
				text = grow(build, e.FailedBuild).String() + text
			}
			r.Failures = append(r.Failures, Failure{Package: e.Package, Output: text})
		}
	case e.Action == "pass":
		r.Passed++
	case e.Action == "fail":
		failed[e.Package]++
		r.Failures = append(r.Failures, Failure{e.Package, e.Test, grow(output, k).String()})
	case e.Action == "skip":
		r.Skips = append(r.Skips, Skip{e.Package, e.Test, reason(grow(output, k).String())})
	}
	if e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
		delete(output, k)
	}
}

func grow[K comparable](m map[K]*strings.Builder, k K) *strings.Builder {
	if m[k] == nil {
		m[k] = &strings.Builder{}
	}
	return m[k]
}

var skipLine = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.*)$`)

// reason is the message a test gave to t.Skip.
func reason(output string) string {
	found := skipLine.FindAllStringSubmatch(output, -1)
	if len(found) == 0 {
		return "no reason given"
	}
	return found[len(found)-1][1]
}
