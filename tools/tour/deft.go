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
		Output string                  `json:"output"`
		Job    *uncertainty.Prediction `json:"job_ms"`
	} `json:"models"`
}

// deft runs two detection jobs on a simulated device, without and with the gate, in
// real processes, and finds the best interval with the simulator.
func deft(ctx context.Context, s *Stage) Chapter {
	s.write("input.json", deftInput)
	played := map[string]*deftRun{"none": {}, "priority": {}}
	for _, policy := range []string{"none", "priority"} { // predictions first
		s.runJSON(ctx, played[policy], "deft", "run", "-f", "input.json", "--policy", policy, "--clock", "virtual", "--duration", "30s", "--out-dir", "virtual-"+policy, "--json")
	}
	for _, policy := range []string{"none", "priority"} {
		s.run(ctx, "deft", "run", "-f", "input.json", "--policy", policy, "--out-dir", policy)
	}
	s.run(ctx, "deft", "plot", "jct-timeseries", "none/urgent.csv", "priority/urgent.csv", "--out", "urgent.svg")
	text := s.run(ctx, "deft", "run", "-f", "input.json", "--clock", "virtual", "--sync", "1,2,4,8,10,20,50,100,500,1000,5000,10000,1000000", "--out-dir", "sweep", "--json")
	s.write("sweep.json", string(text))
	s.run(ctx, "deft", "plot", "intervals", "sweep.json", "--out", "intervals.svg")
	var story []Line
	for _, row := range []struct{ what, policy, of string }{
		{"urgent job, without the gate", "none", "urgent"},
		{"urgent job, with the gate", "priority", "urgent"},
		{"other job, with the gate", "priority", "background"},
	} {
		line := s.comparePredicted(played[row.policy], row.policy, row.of)
		line.What = row.what
		story = append(story, line)
	}
	return Chapter{
		Story: story,
		Plots: []Plot{
			{"deft/urgent.svg", "Each job of the urgent program: without a gate it waits behind the other's kernels, with the gate it runs first."},
			{"deft/intervals.svg", "The cost of a synchronization point every N launches for both programs, and the best N."},
		},
	}
}

// comparePredicted compares the predicted time of one job, from the virtual clock, with
// the jobs of the real run.
func (s *Stage) comparePredicted(played *deftRun, policy, name string) Line {
	ran := s.columns(policy+"/"+name+".csv", "jct_ms")
	if s.hasFailed(nil) {
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
		return Line{Predicted: m.Job, Measured: stats.Median(ran[0]), Unit: "ms", Held: inside, Of: len(ran[0])}
	}
	s.hasFailed(fmt.Errorf("deft run --clock virtual: no prediction for %s", name))
	return Line{}
}
