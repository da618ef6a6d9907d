package tour

import (
	"context"
	"fmt"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// deftInput has two detectors that share a device: one runs without pause, one is
// urgent and comes six times per second.
const deftInput = `{
  "models": [
    {
      "model_name": "fasterrcnn_resnet50_fpn", "resize": true, "resize_size": [1440, 2560], "batch_size": 1,
      "priority": 0, "sleep_time": 0, "output_file_path": "logs", "output_file_name": "background"
    },
    {
      "model_name": "retinanet_resnet50_fpn", "resize": true, "resize_size": [480, 640], "batch_size": 1,
      "priority": 1, "sleep_time": 0.15, "output_file_path": "logs", "output_file_name": "urgent"
    }
  ],
  "exp_dur": 4,
  "jitter": 0.05
}
`

// deftRun is the part of a run that the tour shows.
type deftRun struct {
	Models []struct {
		Output   string `json:"output"`
		Jobs     int    `json:"jobs"`
		Launches int    `json:"launches"`
		Syncs    int    `json:"syncs"`
		JCT      struct {
			Mean float64 `json:"mean"`
			P50  float64 `json:"p50"`
			P99  float64 `json:"p99"`
		} `json:"jct_ms"`
		Job *uncertainty.Prediction `json:"job_ms"`
	} `json:"models"`
}

// deft runs two detection jobs on a simulated device, without and with the gate, in
// real processes, and finds the best interval with the simulator.
func deft(ctx context.Context, s *Stage) Chapter {
	s.write("input.json", deftInput)
	played := map[string]*deftRun{"none": {}, "priority": {}}
	for _, policy := range []string{"none", "priority"} { // predictions first
		s.runJSON(ctx, played[policy], "deft", "run", "-f", "input.json", "--policy", policy, "--clock", "virtual", "--duration", "30s", "--out", "virtual-"+policy, "--json")
	}
	var alone, free, gated deftRun
	for _, run := range []struct {
		into *deftRun
		args []string
	}{
		{&alone, []string{"run", "--alone", "-f", "input.json", "--duration", "1500ms", "--out", "alone", "--json"}},
		{&free, []string{"run", "-f", "input.json", "--policy", "none", "--out", "none", "--json"}},
		{&gated, []string{"run", "-f", "input.json", "--policy", "priority", "--out", "priority", "--json"}},
	} {
		s.runJSON(ctx, run.into, "deft", run.args...)
		if len(run.into.Models) != 2 {
			s.failed(fmt.Errorf("deft %s: %d models", run.args[0], len(run.into.Models)))
			return Chapter{}
		}
	}
	s.run(ctx, "deft", "plot", "jct-timeseries", "--log", "none/urgent.csv,priority/urgent.csv", "--out", "urgent.svg")
	var sweep struct {
		Best int `json:"best_sync"`
	}
	text := s.runJSON(ctx, &sweep, "deft", "run", "-f", "input.json", "--clock", "virtual", "--sync", "1,2,4,8,10,20,50,100,500,1000,5000,10000,1000000", "--out", "sweep", "--json")
	s.write("sweep.json", string(text))
	s.run(ctx, "deft", "plot", "intervals", "--from", "sweep.json", "--out", "intervals.svg")
	background, urgent := gated.Models[0], gated.Models[1]
	var story []Line
	for _, row := range []struct{ what, policy, of string }{
		{"an urgent job, without the gate", "none", "urgent"},
		{"an urgent job, with the gate", "priority", "urgent"},
		{"the other job, with the gate", "priority", "background"},
	} {
		line := s.predicted(played[row.policy], row.policy, row.of)
		line.What = row.what
		story = append(story, line)
	}
	return Chapter{
		Title:    "an urgent job on a shared GPU",
		Why:      "On a shared GPU an urgent program waits behind the other program's kernels unless these are held back. Here two detectors share a simulated GPU; the times of their jobs are predicted on a virtual clock and then measured in real processes.",
		Commands: *s.commands,
		Story:    story,
		Measures: []Measure{
			{"urgent job alone", alone.Models[1].JCT.P50, "ms", "median completion time"},
			{"urgent job, no gate", free.Models[1].JCT.P50 / alone.Models[1].JCT.P50, "x alone", fmt.Sprintf("%d jobs, p99 %s ms", free.Models[1].Jobs, Number(free.Models[1].JCT.P99))},
			{"urgent job, priority", urgent.JCT.P50 / alone.Models[1].JCT.P50, "x alone", fmt.Sprintf("%d jobs, p99 %s ms", urgent.Jobs, Number(urgent.JCT.P99))},
			{"background job, priority", background.JCT.P50 / alone.Models[0].JCT.P50, "x alone", fmt.Sprintf("%d launches, %d synchronization points", background.Launches, background.Syncs)},
			{"best interval", float64(sweep.Best), "launches", "of a sweep on the virtual clock"},
		},
		Plots: []Plot{
			{"deft/urgent.svg", "Each job of the urgent program: without a gate it waits behind the other's kernels, with the gate it runs first."},
			{"deft/intervals.svg", "The cost of a synchronization point every N launches for both programs, and the best N."},
		},
	}
}

// predicted compares the predicted time of one job, from the virtual clock, with
// the jobs of the real run.
func (s *Stage) predicted(played *deftRun, policy, name string) Line {
	ran := s.columns(policy+"/"+name+".csv", "jct_ms")
	if s.failed(nil) {
		return Line{}
	}
	for _, m := range played.Models {
		if m.Output != name || m.Job == nil {
			continue
		}
		inside := 0
		for _, ms := range ran[0] {
			if m.Job.Contains(ms) {
				inside++
			}
		}
		return Line{Predicted: m.Job, Measured: stats.Median(ran[0]), Unit: "ms", Note: "prediction for one job; measured: median of all jobs", Held: inside, Of: len(ran[0])}
	}
	s.failed(fmt.Errorf("deft run --clock virtual: no prediction for %s", name))
	return Line{}
}
