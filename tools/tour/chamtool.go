package tour

import (
	"context"
	"path/filepath"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// chamLibrary is the tool library that a program loads.
const chamLibrary = "libchamtool.so"

// chamTool runs a C program like those of the Chameleon runtime, matrix products of
// several sizes, with the tool library loaded, and compares the predicted
// and the measured times.
func chamTool(ctx context.Context, s *Stage) Chapter {
	library := filepath.Join(s.Bin, chamLibrary)
	s.env = []string{"CHAMTOOL_HOME=home", "CHAMTOOL_LOG_DIR=logs", "CHAMTOOL_CALIBRATE=2"} // start without earlier data
	s.run(ctx, "chamtool", "host", "--tool", library, "--", "--threads", "1", "--tasks", "600", "--iterations", "5", "--work", "matrix", "--sizes", "24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160")
	const log = "logs/chamtool_rank_0.csv"
	s.run(ctx, "chamtool", "replay", log, "--plot", "predicted.svg")
	var summary struct {
		Tool float64 `json:"tool_cpu_percent"`
	}
	s.readJSON(&summary, "logs/chamtool_summary_rank_0.json")
	task := s.typical(log)
	return Chapter{
		Story: []Line{task, {What: "overhead, of the tasks' CPU time", Measured: summary.Tool, Unit: "%"}},
		Plots: []Plot{{"chamtool/predicted.svg", "Predicted over actual times, each predicted before it is learned."}},
	}
}

// typical returns the story of all predicted tasks of a log: their medians, and the
// number that were in their own interval.
func (s *Stage) typical(log string) Line {
	c := s.columns(log, "seconds", "predicted_seconds", "low_seconds", "high_seconds")
	if s.hasFailed(nil) {
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
		What:      "each task, before it runs: median",
		Predicted: &uncertainty.Prediction{Value: ms(1), Low: ms(2), High: ms(3), Level: 0.9},
		Measured:  ms(0), Unit: "ms",
		Held: inside, Of: len(c[0]),
	}
}
