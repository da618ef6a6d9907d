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
		RelativeError struct{ Wall, CPU float64 } `json:"relative_error"`
		Error         string                      `json:"error"`
	} `json:"devices"`
}

// alloxEst estimates a real training job from samples of about 3 % of it, runs the
// whole job, and shows the error; then places many such jobs on CPU and GPU nodes.
func alloxEst(ctx context.Context, s *Stage) Chapter {
	s.write("lenet.yaml", lenetJob)
	var v validation
	s.runJSON(ctx, &v, "allox-est", "validate", "lenet.yaml", "--device", "cpu", "--full", "1", "--journal", "lenet.jsonl", "--json")
	cpu := v.Devices["cpu"]
	if cpu.Error != "" || len(cpu.Actual) == 0 {
		s.failed(fmt.Errorf("no result for the CPU: %s", cpu.Error))
		return Chapter{}
	}
	s.run(ctx, "allox-est", "estimate", "lenet.yaml", "--journal", "lenet.jsonl", "--plot", "lenet.svg")
	placed := s.placement(ctx)
	if s.failed(nil) {
		return Chapter{}
	}
	return Chapter{
		Title:    "a training job, and a thousand of them",
		Why:      "A guessed time limit is too short, which loses the run, or far too long. Here LeNet is estimated from two short samples, then trained completely; a thousand estimated jobs are then placed on 8 nodes.",
		Commands: *s.commands,
		Story: []Line{
			{What: fmt.Sprintf("training LeNet, %d epochs, from %s %% of them", lenetEpochs, Number(100*cpu.SampledFraction)), Predicted: cpu.Wall.prediction(), Measured: cpu.Actual[0].Wall, Unit: "s", Note: "wall time; the interval allows for changes of this machine's load and speed"},
			{What: "processor time of the same job", Predicted: cpu.CPU.prediction(), Measured: cpu.Actual[0].CPU, Unit: "s", Note: "time that the job's threads spent on a processor"},
			{What: "1,000 jobs placed by estimates: mean completion", Measured: placed[3].Value, Unit: "s", Note: fmt.Sprintf("shortest first %s s, first come %s s", Number(placed[1].Value), Number(placed[0].Value))},
		},
		Measures: append([]Measure{
			{"sampled share of the epochs", 100 * cpu.SampledFraction, "%", ""},
			{"estimated completion time", cpu.Wall.Value, "s", fmt.Sprintf("95 %% interval %s to %s", Number(cpu.Wall.Low), Number(cpu.Wall.High))},
			{"measured completion time", cpu.Actual[0].Wall, "s", "the whole job"},
			{"error of the wall time", 100 * cpu.RelativeError.Wall, "%", "method " + cpu.Method},
			{"error of the CPU time", 100 * cpu.RelativeError.CPU, "%", fmt.Sprintf("%s s estimated, %s s measured", Number(cpu.CPU.Value), Number(cpu.Actual[0].CPU))},
		}, placed...),
		Plots: []Plot{
			{"allox-est/lenet.svg", "The time of each epoch, in the samples and in the whole run: the samples see the first epochs only."},
		},
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

// placement compares AlloX with a policy that ignores times and with the strongest
// one that uses them.
func (s *Stage) placement(ctx context.Context) []Measure {
	s.write("jobs.csv", syntheticJobs())
	var outcome struct {
		Schedules []struct {
			Mean float64 `json:"mean_jct_seconds"`
		}
	}
	s.runJSON(ctx, &outcome, "allox-est", "schedule", "--input", "jobs.csv", "--cpu-nodes", "4", "--gpu-nodes", "4", "--json", "--policy", "fifo,sjf,srpt,allox")
	of := outcome.Schedules
	if s.failed(nil) {
		return nil
	}
	return []Measure{
		{"mean completion time, FIFO", of[0].Mean, "s", "first come, first served; 1,000 jobs on 4 CPU and 4 GPU nodes"},
		{"mean completion time, SJF", of[1].Mean, "s", "shortest reported time first"},
		{"mean completion time, SRPT", of[2].Mean, "s", "may stop and move jobs at no cost"},
		{"mean completion time, AlloX", of[3].Mean, "s", "estimates off by 10 % (sd)"},
	}
}
