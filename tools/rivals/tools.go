package rivals

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

// policies places drawn jobs by estimates, and by rules that are simpler.
func policies(ctx context.Context, b *Bench) ([]Row, error) {
	names := []string{"sjf", "srpt", "drf-fifo"}
	rows := make([]Row, len(names))
	const command = "allox-est schedule --cpu-nodes 4 --gpu-nodes 4 --policy allox,sjf,srpt,drf-fifo"
	for seed := range 10 {
		jobs := filepath.Join(b.Out, fmt.Sprintf("jobs-%d.txt", seed))
		if _, err := b.run(ctx, nil, "allox-est", "schedule", "generate", "--users", "5", "--jobs", "200", "--error-sd", "0.1", "--spread", "0.8", "--seed", strconv.Itoa(seed+1), "--out", jobs); err != nil {
			return nil, err
		}
		var outcome struct {
			Schedules []struct {
				Mean float64 `json:"mean_jct_seconds"`
			}
		}
		if err := b.runJSON(ctx, &outcome, "allox-est", "schedule", "--input", jobs, "--cpu-nodes", "4", "--gpu-nodes", "4", "--json", "--policy", "allox,sjf,srpt,drf-fifo"); err != nil {
			return nil, err
		}
		for i, name := range names {
			rows[i] = Row{
				Tool: "allox-est", What: "mean completion of 1,000 jobs on 8 nodes, by AlloX", Unit: "s", Rival: name, Command: command,
				Ours: append(rows[i].Ours, outcome.Schedules[0].Mean), Theirs: append(rows[i].Theirs, outcome.Schedules[i+1].Mean),
			}
		}
	}
	return rows, nil
}

// models predicts the tasks of a program, beside the rules of runtimes.
func models(ctx context.Context, b *Bench) ([]Row, error) {
	rules := []struct{ baseline, rival string }{
		{"starpu", "mean of runs of the same sizes, as StarPU keeps it"},
		{"last_value", "the last run of the same sizes"},
		{"history", "the median of runs of the same sizes"},
	}
	rows := make([]Row, len(rules))
	for round := range Rounds {
		logs := filepath.Join(b.Out, fmt.Sprintf("tasks-%d", round))
		if err := os.RemoveAll(logs); err != nil { // of another run
			return nil, err
		}
		if _, err := b.run(ctx, []string{"CHAMTOOL_HOME=" + filepath.Join(logs, "home"), "CHAMTOOL_LOG_DIR=" + logs, "CHAMTOOL_CALIBRATE=2"}, "chamtool", "host", "--tool", filepath.Join(b.bin(), "libchamtool.so"), "--",
			"--threads", "1", "--tasks", "600", "--iterations", "5", "--work", "matrix", "--sizes", "24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160"); err != nil {
			return nil, err
		}
		var replay struct {
			WAPE      float64
			Baselines map[string]struct{ WAPE float64 }
		}
		if err := b.runJSON(ctx, &replay, "chamtool", "replay", filepath.Join(logs, "chamtool_rank_0.csv"), "--json"); err != nil {
			return nil, err
		}
		for i, r := range rules {
			rows[i] = Row{
				Tool: "chamtool", What: "error of predicted task times, weighted", Unit: "%", Rival: r.rival, Command: "chamtool replay LOG --json",
				Ours: append(rows[i].Ours, replay.WAPE), Theirs: append(rows[i].Theirs, replay.Baselines[r.baseline].WAPE),
			}
		}
	}
	return rows, nil
}

// pair is two detectors on one simulated GPU, one urgent.
const pair = `{
  "models": [
    {"model_name": "fasterrcnn_resnet50_fpn", "resize": true, "resize_size": [1440, 2560], "batch_size": 1, "priority": 0, "sleep_time": 0, "output_file_path": "logs", "output_file_name": "background"},
    {"model_name": "retinanet_resnet50_fpn", "resize": true, "resize_size": [480, 640], "batch_size": 1, "priority": 1, "sleep_time": 0.15, "output_file_path": "logs", "output_file_name": "urgent"}
  ],
  "exp_dur": 4, "jitter": 0.05, "discipline": %q
}
`

// gate runs an urgent job beside another, with the gate and with what a GPU does by
// itself: kernels of all programs first come first served, or in time slices.
func gate(ctx context.Context, b *Bench) ([]Row, error) {
	var rows []Row
	for _, d := range []struct{ discipline, rival string }{
		{"fifo", "first come first served, as under MPS"}, {"timeslice", "time slices, as without MPS"},
	} {
		input := filepath.Join(b.Out, d.discipline+".json")
		if err := os.WriteFile(input, fmt.Appendf(nil, pair, d.discipline), 0o644); err != nil {
			return nil, err
		}
		row := Row{Tool: "deft", What: "an urgent job beside another on a simulated GPU, median", Unit: "ms", Rival: d.rival, Command: "deft run -f FILE --policy priority, and none"}
		for range Rounds {
			for policy, to := range map[string]*[]float64{"priority": &row.Ours, "none": &row.Theirs} {
				var run struct {
					Models []struct {
						JCT struct{ P50 float64 } `json:"jct_ms"`
					} `json:"models"`
				}
				if err := b.runJSON(ctx, &run, "deft", "run", "-f", input, "--policy", policy, "--out", filepath.Join(b.Out, "deft"), "--json"); err != nil {
					return rows, err
				}
				*to = append(*to, run.Models[1].JCT.P50)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// ort is a folder's worker for ONNX Runtime, built, and a model to run in it.
func (b *Bench) ort(ctx context.Context, family string, size ...string) (file string, err error) {
	if _, err := b.run(ctx, nil, "go", "build", "-o", b.bin()+string(filepath.Separator), "./edgeprof/cmd/edgeprof-ort"); err != nil {
		return "", err
	}
	file = filepath.Join(b.Out, family+".onnx")
	_, err = b.run(ctx, nil, "edgeprof", append([]string{"synth", family, "--out", file}, size...)...)
	return file, err
}

// timeModel is the median of ten inferences, in milliseconds.
func (b *Bench) timeModel(ctx context.Context, file, runtime string) (float64, error) {
	var took struct {
		P50 float64 `json:"p50_seconds"`
	}
	err := b.runJSON(ctx, &took, "edgeprof", "time", file, "--runtime", runtime, "--runs", "10", "--json")
	return 1000 * took.P50, err
}

// inference runs a model in our run time and in ONNX Runtime.
func inference(ctx context.Context, b *Bench) ([]Row, error) {
	file, err := b.ort(ctx, "resnet", "--width", "0.75", "--resolution", "128")
	if err != nil {
		return nil, err
	}
	row := Row{Tool: "edgeprof", What: "one inference of a resnet, in Go on one thread", Unit: "ms", Rival: "ONNX Runtime", Command: "edgeprof time FILE --runtime go, and ort"}
	for range Rounds {
		ours, err := b.timeModel(ctx, file, "go")
		if err != nil {
			return nil, err
		}
		theirs, err := b.timeModel(ctx, file, "ort")
		if err != nil {
			return nil, err
		}
		row.Ours, row.Theirs = append(row.Ours, ours), append(row.Theirs, theirs)
	}
	return []Row{row}, nil
}

// profile predicts models from rates of this machine, beside the sum of the kernels
// that ONNX Runtime saw when it ran them; a round is a model.
func profile(ctx context.Context, b *Bench) ([]Row, error) {
	rates := filepath.Join(b.Out, "rates.json")
	row := Row{Tool: "edgeprof", What: "error of the time of one inference, told before it runs", Unit: "%", Rival: "ONNX Runtime's own profile of a run", Command: "edgeprof layers FILE --measure, beside edgeprof time FILE --runtime ort"}
	counted := Row{Tool: "edgeprof", What: row.What, Unit: "%", Rival: "counts of operations, from one measured model", Command: row.Command}
	var each float64 // milliseconds of a multiply-accumulate of the first
	for i, family := range []string{"mobilenetv2", "resnet", "transformer", "alexnet", "densenet", "efficientnet", "googlenet", "lstm"} {
		file, err := b.ort(ctx, family)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			if _, err := b.run(ctx, nil, "edgeprof", "calibrate", "--runtime", "ort", "--runs", "3", "--out", rates); err != nil {
				return nil, err
			}
		}
		var told struct {
			Predicted struct{ Value float64 } `json:"predicted_seconds"`
			Profiled  float64                 `json:"measured_seconds"`
			Layers    []struct{ MACs float64 }
		}
		if err := b.runJSON(ctx, &told, "edgeprof", "layers", file, "--measure", "--calibration", rates, "--json"); err != nil {
			return nil, err
		}
		truth, err := b.timeModel(ctx, file, "ort")
		if err != nil {
			return nil, err
		}
		off := func(seconds float64) float64 { return 100 * math.Abs(1000*seconds/truth-1) }
		row.Ours, row.Theirs = append(row.Ours, off(told.Predicted.Value)), append(row.Theirs, off(told.Profiled))
		macs := 0.0
		for _, l := range told.Layers {
			macs += l.MACs
		}
		if i == 0 {
			each = truth / macs
			continue
		}
		counted.Ours, counted.Theirs = append(counted.Ours, off(told.Predicted.Value)), append(counted.Theirs, off(each*macs/1000))
	}
	return []Row{row, counted}, nil
}
