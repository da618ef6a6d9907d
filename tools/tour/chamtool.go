package tour

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// chamtool runs a task program with the tool library loaded, and shows how the
// predictions got closer as tasks completed, from the log that was written.
func chamtool(ctx context.Context, s *Stage) (Chapter, error) {
	library, err := chamtoolLibrary(ctx, s)
	if err != nil {
		return Chapter{}, err
	}
	// The tool's own folders are the chapter's: nothing is left elsewhere.
	dir := filepath.Dir(library)
	for name, value := range map[string]string{"CHAMTOOL_HOME": filepath.Join(dir, "home"), "CHAMTOOL_LOG_DIR": filepath.Join(dir, "logs"), "CHAMTOOL_CALIBRATE": "2"} {
		before, had := os.LookupEnv(name)
		os.Setenv(name, value)
		if had {
			defer os.Setenv(name, before)
		} else {
			defer os.Unsetenv(name)
		}
	}
	if _, err := s.run(ctx, "chamtool", "host", "--tool", "libchamtool.so", "--", "--threads", "2", "--tasks", "400", "--iterations", "25", "--sizes", "24,32,48,64,80,96"); err != nil {
		return Chapter{}, err
	}
	var ran struct {
		Ended     uint64   `json:"ended"`
		Dropped   uint64   `json:"dropped"`
		MedianAPE *float64 `json:"median_ape_percent"`
		Tool      float64  `json:"tool_cpu_percent"`
	}
	data, err := os.ReadFile(filepath.Join(dir, "logs", "chamtool_summary_rank_0.json"))
	if err != nil {
		return Chapter{}, err
	}
	if err := json.Unmarshal(data, &ran); err != nil {
		return Chapter{}, err
	}
	var again struct {
		Curve []struct {
			From, To int
			Median   *float64 `json:"median_ape"`
		}
	}
	if err := s.runJSON(ctx, &again, "chamtool", "replay", "logs/chamtool_rank_0.csv", "--format", "csv", "--json"); err != nil {
		return Chapter{}, err
	}
	if _, err := s.run(ctx, "chamtool", "plot", "logs/chamtool_rank_0.csv", "--format", "csv", "--what", "predicted", "--out", "predicted.svg"); err != nil {
		return Chapter{}, err
	}
	c := Chapter{
		Title:    "Matrix products of six sizes on two threads, their times learned while they run",
		Commands: *s.commands,
		Measures: []Measure{{"tasks run", float64(ran.Ended), "", fmt.Sprintf("%d events dropped", ran.Dropped)}},
		Plots:    []string{"chamtool/predicted.svg"},
	}
	for i, p := range again.Curve {
		if p.Median != nil && (i == 0 || i == len(again.Curve)/2 || i == len(again.Curve)-1) {
			c.Measures = append(c.Measures, Measure{fmt.Sprintf("median error, tasks %d to %d", p.From, p.To), *p.Median, "%", "each predicted before it was learned"})
		}
	}
	if ran.MedianAPE != nil {
		c.Measures = append(c.Measures, Measure{"median error, all tasks", *ran.MedianAPE, "%", ""})
	}
	c.Measures = append(c.Measures, Measure{"tool's CPU time", ran.Tool, "% of the tasks'", "reading, learning, logging"})
	return c, nil
}

// chamtoolLibrary builds the tool library, with the patched library's
// interface where there is a C++ compiler.
func chamtoolLibrary(ctx context.Context, s *Stage) (string, error) {
	path, err := s.path("libchamtool.so")
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	args := []string{"build", "-buildmode=c-shared", "-trimpath", "-o", path}
	if _, err := exec.LookPath("g++"); err == nil {
		args = append(args, "-tags", "chamtool_patched")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./chamtool/cmd/libchamtool")...)
	cmd.Dir = s.Root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build libchamtool.so: %w\n%s", err, out)
	}
	return path, nil
}
