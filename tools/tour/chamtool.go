package tour

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// chamLibrary is the tool library that a program loads.
const chamLibrary = "libchamtool.so"

// chamTool runs a C program like those of the Chameleon runtime, matrix products of
// several sizes, with the tool library loaded, and shows the error of its
// predictions falling as tasks complete.
func chamTool(ctx context.Context, s *Stage) Chapter {
	library := filepath.Join(s.Bin, chamLibrary)
	s.env = []string{"CHAMTOOL_HOME=home", "CHAMTOOL_LOG_DIR=logs", "CHAMTOOL_CALIBRATE=2"} // start without earlier data
	var host struct {
		Created int     `json:"created"`
		Seconds float64 `json:"seconds"`
	}
	s.runJSON(ctx, &host, "chamtool", "host", "--tool", library, "--", "--threads", "1", "--tasks", "600", "--iterations", "5", "--work", "matrix", "--sizes", "24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160")
	var replay struct {
		Curve []struct {
			From   int     `json:"from"`
			To     int     `json:"to"`
			Median float64 `json:"median_ape"`
		} `json:"curve"`
	}
	const log = "logs/chamtool_rank_0.csv"
	s.runJSON(ctx, &replay, "chamtool", "replay", "--format", "csv", log, "--json", "--plot", "predicted.svg")
	var summary struct {
		Dropped int     `json:"dropped"`
		Tool    float64 `json:"tool_cpu_percent"`
	}
	s.readJSON(&summary, "logs/chamtool_summary_rank_0.json")
	task := s.typical(log)
	if s.failed(nil) || len(replay.Curve) == 0 {
		s.failed(fmt.Errorf("no tasks were predicted"))
		return Chapter{}
	}
	first, last := replay.Curve[0], replay.Curve[len(replay.Curve)-1]
	return Chapter{
		Title:    "the tasks of an MPI program",
		Why:      "A runtime that knows how long its tasks will take can move work to another rank before a rank falls behind. Matrix products of eighteen sizes run here as tasks, and their times are learned while the program runs.",
		Commands: *s.commands,
		Story: []Line{
			task,
			{What: "overhead of predicting", Measured: summary.Tool, Unit: "%", Note: "tool's share of the tasks' processor time"},
		},
		Measures: []Measure{
			{"tasks run", float64(host.Created), "", fmt.Sprintf("in %s s; %d events dropped", Number(host.Seconds), summary.Dropped)},
			{"median error, the first tasks", first.Median, "%", fmt.Sprintf("before task %d, each predicted before it is learned", first.To)},
			{"median error, the last tasks", last.Median, "%", fmt.Sprintf("tasks %d to %d", last.From, last.To)},
			{"tool's CPU time", summary.Tool, "%", "of the tasks': reading, learning, logging"},
		},
		Plots: []Plot{{"chamtool/predicted.svg", "Predicted over actual times, each predicted before it is learned."}},
	}
}

// typical returns the story of all predicted tasks of a log: their medians, and the
// number that were in their own interval.
func (s *Stage) typical(log string) Line {
	c := s.columns(log, "seconds", "predicted_seconds", "low_seconds", "high_seconds")
	if s.failed(nil) {
		return Line{}
	}
	inside := 0
	for i, took := range c[0] {
		if c[2][i] <= took && took <= c[3][i] {
			inside++
		}
	}
	ms := func(i int) float64 { return 1000 * stats.Median(c[i]) }
	return Line{
		What:      "each task, before it runs",
		Predicted: &uncertainty.Prediction{Value: ms(1), Low: ms(2), High: ms(3), Level: 0.9},
		Measured:  ms(0), Unit: "ms", Note: "medians of all tasks; each task has its own interval",
		Held: inside, Of: len(c[0]),
	}
}
