package cli

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// unknowns returns a text for each part of a model's cost that is unknown, if it was not
// profiled, and one for the sizes that were assumed, with the flags that set them.
func unknowns(a *onnx.Analysis, warnings []string, profiled bool) []string {
	var lines []string
	if !profiled {
		for _, w := range onnx.WarningTexts(a.UncountedWarnings()) {
			lines = append(lines, "the time has no upper bound: "+w)
		}
		for _, w := range warnings {
			if isUnmet(w) {
				lines = append(lines, "the time has no upper bound: "+w)
			}
		}
	}
	var guesses []string
	for _, o := range a.OpenDimensions {
		guess := "--dim " + quoteArgument(fmt.Sprintf("%s=%d", o.Key(), o.Size))
		if !o.Given && !slices.Contains(guesses, guess) {
			guesses = append(guesses, guess)
		}
	}
	switch {
	case len(a.AssumedSizes()) > 0 && len(lines) > 0:
		lines = append(lines, "assumed sizes, of which the time is a lower bound: "+strings.Join(guesses, " "))
	case len(a.AssumedSizes()) > 0:
		lines = append(lines, "assumed sizes, so the time has no interval: "+strings.Join(guesses, " "))
	case len(guesses) > 0:
		lines = append(lines, "assumed sizes: "+strings.Join(guesses, " "))
	}
	return lines
}

// plainArgument matches arguments that a shell takes as they are.
var plainArgument = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// quoteArgument returns a value of --dim, which takes a list, as it is typed in a shell.
func quoteArgument(argument string) string {
	if strings.ContainsAny(argument, ",\"") {
		argument = `"` + strings.ReplaceAll(argument, `"`, `""`) + `"`
	}
	if plainArgument.MatchString(argument) {
		return argument
	}
	return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
}

// isUnmet reports whether a warning is a [profiler.ErrUnmet].
func isUnmet(warning string) bool { return strings.HasPrefix(warning, profiler.ErrUnmet.Error()) }

// others returns the warnings that unknowns does not show.
func others(a *onnx.Analysis, warnings []string) []string {
	shown := onnx.WarningTexts(a.Warnings)
	return slices.DeleteFunc(slices.Clone(warnings), func(w string) bool { return slices.Contains(shown, w) || isUnmet(w) })
}

// bound returns a predicted time as a cell: a time that has a lower bound only as ">= x".
func bound(p uncertainty.Prediction) any {
	if p.Low > 0 && math.IsInf(p.High, 1) {
		return ">= " + cli.Text(p.Low)
	}
	return p
}

// boundSeconds returns a predicted time with its unit.
func boundSeconds(p uncertainty.Prediction) string {
	if p.Low > 0 && math.IsInf(p.High, 1) {
		return ">= " + cli.Seconds(uncertainty.Point(p.Low)).String()
	}
	return cli.Seconds(p).String()
}
