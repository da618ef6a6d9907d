package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// unknowns adds a line to a page for each part of a model's cost that is unknown, and one
// for the sizes that were assumed, with the flag that sets them.
func unknowns(p *cli.Page, a *onnx.Analysis) {
	for _, w := range a.UncountedWarnings() {
		p.Line("the time has no upper bound: %v", w)
	}
	var guesses []string
	for _, o := range a.OpenDimensions {
		if guess := fmt.Sprintf("--dim %s=%d", o.Key(), o.Size); !o.Given && !slices.Contains(guesses, guess) {
			guesses = append(guesses, guess)
		}
	}
	switch {
	case len(a.AssumedSizes()) > 0:
		p.Line("assumed sizes, so the time has no interval: %s", strings.Join(guesses, " "))
	case len(guesses) > 0:
		p.Line("assumed sizes: %s", strings.Join(guesses, " "))
	}
}

// others returns the warnings that unknowns does not show.
func others(a *onnx.Analysis, warnings []string) []string {
	shown := texts(a.Warnings)
	return slices.DeleteFunc(slices.Clone(warnings), func(w string) bool { return slices.Contains(shown, w) })
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
