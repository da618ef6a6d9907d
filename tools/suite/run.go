package suite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// Run executes `go test -json ARGS` in dir, prints one line per package to
// progress as it ends, and returns the count. The error says that the go
// command itself could not be run, or that ctx ended, which ends every test;
// failed tests are in the Result.
func Run(ctx context.Context, dir string, args []string, progress io.Writer) (*Result, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append([]string{"GORACE=atexit_sleep_ms=10"}, os.Environ()...) // the user's own, if any, comes later and wins
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // the test binaries too
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

// counter gathers a Result from events.
type counter struct {
	Result
	progress io.Writer
	output   map[key]*strings.Builder    // of packages, and of tests that run
	build    map[string]*strings.Builder // by import path
	failed   map[string]bool             // packages with a failure
}

// Read counts a stream of test events. A line that is no event is printed to
// progress as it is.
func Read(events io.Reader, progress io.Writer) (*Result, error) {
	c := &counter{
		progress: progress, output: map[key]*strings.Builder{},
		build: map[string]*strings.Builder{}, failed: map[string]bool{},
	}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				progress.Write(line)
			} else {
				c.count(e)
			}
		}
		if errors.Is(err, io.EOF) {
			return &c.Result, nil
		}
		if err != nil {
			return &c.Result, err
		}
	}
}

func (c *counter) count(e event) {
	k := key{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		grow(c.build, e.ImportPath).WriteString(e.Output)
	case e.Action == "output":
		grow(c.output, k).WriteString(e.Output)
	case e.Action != "pass" && e.Action != "fail" && e.Action != "skip":
	case e.Test == "":
		c.packageEnds(e)
	default:
		c.testEnds(k, e.Action)
	}
}

func (c *counter) testEnds(k key, action string) {
	text := grow(c.output, k).String()
	delete(c.output, k)
	switch action {
	case "pass":
		c.Passed++
	case "skip":
		c.Skips = append(c.Skips, Skip{k.pkg, k.test, reason(text)})
	case "fail":
		c.fail(k, text)
	}
}

// packageEnds counts the tests that the end of the package's process broke off
// (it ran out of time or was killed, say) as failures, and the package itself
// where nothing else says why it failed.
func (c *counter) packageEnds(e event) {
	fmt.Fprintf(c.progress, "%-4s %s %.1fs\n", e.Action, e.Package, e.Elapsed)
	if e.Action != "fail" {
		return
	}
	whole := grow(c.output, key{e.Package, ""}).String()
	for _, k := range c.brokenOff(e.Package) {
		c.fail(k, c.output[k].String()+whole)
	}
	if !c.failed[e.Package] {
		c.fail(key{e.Package, ""}, grow(c.build, e.FailedBuild).String()+whole)
	}
}

// brokenOff returns the package's tests that started and did not end, in
// order, without those that waited for a subtest.
func (c *counter) brokenOff(pkg string) []key {
	var keys []key
	for k := range c.output {
		if k.pkg == pkg && k.test != "" {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b key) int { return strings.Compare(a.test, b.test) })
	return slices.DeleteFunc(slices.Clone(keys), func(k key) bool {
		return slices.ContainsFunc(keys, func(sub key) bool { return strings.HasPrefix(sub.test, k.test+"/") })
	})
}

func (c *counter) fail(k key, text string) {
	c.failed[k.pkg] = true
	c.Failures = append(c.Failures, Failure{k.pkg, k.test, text})
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
