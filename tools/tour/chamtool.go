package tour

import (
	"context"
	"fmt"
	"path/filepath"
)

// chamTool runs a program of the Chameleon runtime's shape, matrix products of
// several sizes in C, with the tool library loaded, and shows the error of its
// predictions falling as tasks complete.
func chamTool(ctx context.Context, s *Stage) (Chapter, error) {
	library := filepath.Join(s.Bin, "libchamtool.so")
	if err := s.goBuild(ctx, "-buildmode=c-shared", "-trimpath", "-o", library, "./chamtool/cmd/libchamtool"); err != nil {
		return Chapter{}, err
	}
	s.env = []string{"CHAMTOOL_HOME=home", "CHAMTOOL_LOG_DIR=logs", "CHAMTOOL_CALIBRATE=2"} // learn from nothing
	var host struct {
		Created int     `json:"created"`
		Seconds float64 `json:"seconds"`
	}
	if err := s.runJSON(ctx, &host, "chamtool", "host", "--tool", library, "--", "--threads", "1", "--tasks", "600", "--iterations", "5", "--work", "matrix", "--sizes", "24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160"); err != nil {
		return Chapter{}, err
	}
	var replay struct {
		Curve []struct {
			From   int     `json:"from"`
			To     int     `json:"to"`
			Median float64 `json:"median_ape"`
		} `json:"curve"`
	}
	const log = "logs/chamtool_rank_0.csv"
	if err := s.runJSON(ctx, &replay, "chamtool", "replay", "--format", "csv", log, "--json"); err != nil {
		return Chapter{}, err
	}
	if _, err := s.run(ctx, "chamtool", "plot", "--format", "csv", "--what", "error", "--out", "error.svg", log); err != nil {
		return Chapter{}, err
	}
	if len(replay.Curve) == 0 {
		return Chapter{}, fmt.Errorf("no tasks were predicted")
	}
	var summary struct {
		Dropped int     `json:"dropped"`
		Tool    float64 `json:"tool_cpu_percent"`
	}
	if err := s.readJSON(&summary, "logs/chamtool_summary_rank_0.json"); err != nil {
		return Chapter{}, err
	}
	first, last := replay.Curve[0], replay.Curve[len(replay.Curve)-1]
	return Chapter{
		Title:    "Matrix products of eighteen sizes as tasks, their times learned while the program runs",
		Commands: *s.commands,
		Measures: []Measure{
			{"tasks run", float64(host.Created), "", fmt.Sprintf("in %s s; %d events dropped", number(host.Seconds), summary.Dropped)},
			{"median error, the first tasks", first.Median, "%", fmt.Sprintf("before task %d, each predicted before it is learned", first.To)},
			{"median error, the last tasks", last.Median, "%", fmt.Sprintf("tasks %d to %d", last.From, last.To)},
			{"tool's CPU time", summary.Tool, "%", "of the tasks': reading, learning, logging"},
		},
		Plots: []string{"chamtool/error.svg"},
	}, nil
}
