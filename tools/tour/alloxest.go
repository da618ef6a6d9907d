package tour

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/foretime/foretime/shared/uncertainty"
)

// lenetEpochs is the number of epochs, of 0.1 to 0.4 s each by machine.
const lenetEpochs = 80

// lenetJob trains LeNet on generated images.
var lenetJob = fmt.Sprintf(`name: lenet
command: [allox-est, jobs, lenet, --batches, "1", --epochs, "{epochs}", "{hw}"]
epochs: %d
devices:
  cpu: {threads: 1}
`, lenetEpochs)

// estimated is one figure of an allox-est report.
type estimated struct{ Value, Low, High float64 }

func (e estimated) prediction() *uncertainty.Prediction {
	return &uncertainty.Prediction{Value: e.Value, Low: e.Low, High: e.High, Level: 0.95}
}

type validation struct {
	Devices map[string]struct {
		Wall            estimated `json:"wall_seconds"`
		CPU             estimated `json:"cpu_seconds"`
		Method          string    `json:"method"`
		SampledFraction float64   `json:"sampled_fraction"`
		Actual          []struct {
			Wall float64 `json:"wall_seconds"`
			CPU  float64 `json:"cpu_seconds"`
		} `json:"actual"`
		Error string `json:"error"`
	} `json:"devices"`
}

// alloxEst estimates a real training job from samples of about 3 % of it, runs the
// whole job, and shows the error; then places many such jobs on CPU and GPU nodes.
func alloxEst(ctx context.Context, s *Stage) Chapter {
	s.write("lenet.yaml", lenetJob)
	var v validation
	s.runJSON(ctx, &v, "allox-est", "validate", "lenet.yaml", "--device", "cpu", "--runs", "1", "--journal", "lenet.jsonl", "--json")
	cpu := v.Devices["cpu"]
	if cpu.Error != "" || len(cpu.Actual) == 0 {
		s.hasFailed(fmt.Errorf("no result for the CPU: %s", cpu.Error))
		return Chapter{}
	}
	s.run(ctx, "allox-est", "estimate", "lenet.yaml", "--journal", "lenet.jsonl", "--plot", "lenet.svg")
	placed := s.placement(ctx)
	if s.hasFailed(nil) {
		return Chapter{}
	}
	return Chapter{
		Story: append([]Line{
			{What: fmt.Sprintf("LeNet, %d epochs, from %s %%", lenetEpochs, Number(100*cpu.SampledFraction)), Predicted: cpu.Wall.prediction(), Measured: cpu.Actual[0].Wall, Unit: "s"},
			{What: "processor time of the same job", Predicted: cpu.CPU.prediction(), Measured: cpu.Actual[0].CPU, Unit: "s"},
		}, placed...),
		Plots: []Plot{{"allox-est/lenet.svg", "The time of each epoch, in the samples and in the whole run: the samples see the first epochs only."}},
	}
}

// syntheticJobs returns a table of 1,000 jobs of five users: three classes after the
// generator of the AlloX simulator, twice as fast on a GPU but for a random factor on each
// time, with estimates that are 10 % off. Five arrive at a time.
func syntheticJobs() string {
	rng := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("job,user,arrival,cpu,cpu_actual,gpu,gpu_actual\n")
	for i := range 1000 {
		gpu := []float64{25, 75, 125}[rng.IntN(3)]
		fmt.Fprintf(&b, "%d,queue%d,%d", i, i%5, 15*(i/5))
		for _, class := range []float64{2 * gpu, gpu} {
			actual := class * math.Exp(0.8*rng.NormFloat64())
			fmt.Fprintf(&b, ",%g,%g", actual*max(0.01, 1+0.1*rng.NormFloat64()), actual)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// placement returns the mean completion time of jobs on 4 CPU and 4 GPU nodes under AlloX,
// under the strongest simple policy that uses estimates, and under one that ignores them.
func (s *Stage) placement(ctx context.Context) []Line {
	s.write("jobs.csv", syntheticJobs())
	var outcome struct {
		Schedules []struct {
			Mean float64 `json:"mean_jct_seconds"`
		}
	}
	s.runJSON(ctx, &outcome, "allox-est", "schedule", "--input", "jobs.csv", "--cpu-nodes", "4", "--gpu-nodes", "4", "--json", "--policy", "allox,sjf,fifo")
	if s.hasFailed(nil) {
		return nil
	}
	var lines []Line
	for i, policy := range []string{"AlloX", "shortest first", "first come"} {
		lines = append(lines, Line{What: "mean of 1,000 jobs, " + policy, Measured: outcome.Schedules[i].Mean, Unit: "s"})
	}
	return lines
}
