package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/chamtool/internal/job"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/shared/chart"
)

// TestLoadChart checks that a job of one rank has one line: its mean and its largest load
// would coincide.
func TestLoadChart(t *testing.T) {
	one := job.Figures{Ranks: 1, Spreads: []job.Spread{{Iteration: 1, Mean: 2, Max: 2}, {Iteration: 2, Mean: 3, Max: 3}}}
	want := []chart.Series{{Name: "load", X: []float64{1, 2}, Y: []float64{2, 3}}}
	if diff := cmp.Diff(want, loadChart(one).Series); diff != "" {
		t.Errorf("one rank (-want +got):\n%s", diff)
	}
	two := job.Figures{Ranks: 2, Spreads: []job.Spread{{Iteration: 1, Mean: 2, Max: 3}}}
	want = []chart.Series{{Name: "most loaded rank", X: []float64{1}, Y: []float64{3}}, {Name: "mean over ranks", X: []float64{1}, Y: []float64{2}}}
	if diff := cmp.Diff(want, loadChart(two).Series); diff != "" {
		t.Errorf("two ranks (-want +got):\n%s", diff)
	}
}

// A span that lacks dependences is a lower bound, and the parallelism an upper one.
func TestSpanFigures(t *testing.T) {
	g := &job.Graph{Graph: summary.Graph{Work: 3, Span: 2}, Parallelism: 1.5}
	if got := spanFigures(g, " s"); got != "2.00 s: parallelism 1.50" {
		t.Error(got)
	}
	g.Lost = 7
	if got := spanFigures(g, " s"); got != "at least 2.00 s: parallelism at most 1.50, 7 dependences had no room" {
		t.Error(got)
	}
}
