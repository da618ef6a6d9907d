package suite

import (
	"fmt"
	"io"
	"sort"
	"strings"
)

// Skip is a test that did not run, and why.
type Skip struct {
	Package, Test, Reason string
}

// Failure is a test, or a whole package when Test is "", that failed.
type Failure struct {
	Package, Test, Output string
}

// Result counts how tests ended. Subtests count like tests.
type Result struct {
	Passed   int
	Failures []Failure
	Skips    []Skip
}

// OK says that something ran and nothing failed.
func (r *Result) OK() bool { return r.Passed > 0 && len(r.Failures) == 0 }

// Add counts other's tests as well.
func (r *Result) Add(other *Result) {
	r.Passed += other.Passed
	r.Failures = append(r.Failures, other.Failures...)
	r.Skips = append(r.Skips, other.Skips...)
}

// FailSkips turns every skipped test into a failure: for runs that have
// installed all that tests need.
func (r *Result) FailSkips() {
	for _, s := range r.Skips {
		r.Failures = append(r.Failures, Failure{s.Package, s.Test, "skipped: " + s.Reason})
	}
	r.Skips = nil
}

// Summary is the closing line.
func (r *Result) Summary() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", r.Passed, len(r.Failures), len(r.Skips))
}

// WriteTo prints the failures with their output, the skips grouped by what
// they lacked, and the closing line.
func (r *Result) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "\nFAILED %s %s\n%s", f.Package, f.Test, indent(f.Output))
	}
	reasons := map[string][]string{}
	for _, s := range r.Skips {
		reasons[s.Reason] = append(reasons[s.Reason], s.Test)
	}
	order := make([]string, 0, len(reasons))
	for reason := range reasons {
		order = append(order, reason)
	}
	sort.Strings(order)
	for _, reason := range order {
		tests := reasons[reason]
		fmt.Fprintf(&b, "skipped (%s): %s\n", reason, strings.Join(tests, " "))
	}
	fmt.Fprintln(&b, r.Summary())
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func indent(s string) string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(s, "\n", "\n    ") + "\n"
}
