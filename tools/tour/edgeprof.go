package tour

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/foretime/foretime/shared/uncertainty"
)

// edgeProf generates models of three families, predicts their time on this machine
// from rates measured with other sizes, and then measures them: in ONNX Runtime, or
// in the Go runtime if that is not installed.
func edgeProf(ctx context.Context, s *Stage) Chapter {
	runtime, before := "ort", len(*s.commands)
	s.calibrate(ctx, runtime)
	if s.err != nil && ctx.Err() == nil {
		fmt.Fprintf(s.Log, "without ONNX Runtime: %v\n", s.err)
		s.err, *s.commands, runtime = nil, (*s.commands)[:before], "go"
		s.calibrate(ctx, runtime)
	}
	c := Chapter{
		Title: "a model on this machine",
		Why:   "Before buying a board you must know whether it runs your model in time. Here models of three families are generated, their times are predicted from rates measured with other sizes, and then measured.",
	}
	for _, model := range [][]string{
		{"mobilenetv2", "--resolution", "160"}, {"resnet", "--width", "0.75", "--resolution", "128"}, {"transformer", "--depth", "6"},
	} {
		ms, line := s.timeModel(ctx, runtime, model[0], model[1:])
		c.Measures = append(c.Measures, ms...)
		c.Story = append(c.Story, line)
	}
	c.Measures = append(c.Measures, s.layers(ctx, runtime)...)
	c.Measures = append(c.Measures, s.serveProfiling(ctx, 100))
	c.Commands = *s.commands
	return c
}

// layers returns the slowest kernels of a small network, measured and predicted.
func (s *Stage) layers(ctx context.Context, runtime string) []Measure {
	s.run(ctx, "edgeprof", "synth", "alexnet", "--width", "0.5", "--resolution", "96", "--out", "layers.onnx")
	var found struct {
		Layers []layer `json:"layers"`
	}
	s.runJSON(ctx, &found, "edgeprof", "layers", "layers.onnx", "--measure", "--calibration", rates(runtime), "--json")
	slices.SortFunc(found.Layers, func(a, b layer) int { return cmp.Compare(b.Measured, a.Measured) })
	var ms []Measure
	for _, l := range found.Layers[:min(5, len(found.Layers))] {
		name := fmt.Sprintf("a layer of alexnet in %s, %s to %s", runtime, l.Op, strings.Trim(strings.ReplaceAll(fmt.Sprint(l.Shape), " ", "x"), "[]"))
		ms = append(ms, Measure{name, 1000 * l.Measured, "ms", fmt.Sprintf("predicted %s ms; %s million multiply-accumulates", Number(1000*l.Seconds), Number(l.MACs/1e6))})
	}
	return ms
}

// layer is a kernel in edgeprof's output.
type layer struct {
	Op       string  `json:"op"`
	Shape    []int64 `json:"shape"`
	Seconds  float64 `json:"predicted_seconds"`
	Measured float64 `json:"measured_seconds"`
	MACs     float64 `json:"macs"`
}

// rates returns the file with a runtime's rates.
func rates(runtime string) string { return "rates-" + runtime + ".json" }

func (s *Stage) calibrate(ctx context.Context, runtime string) {
	s.run(ctx, "edgeprof", "calibrate", "--runtime", runtime, "--runs", "3", "--out", rates(runtime))
}

// runtimeNames maps runtimes to their names in texts.
var runtimeNames = map[string]string{"go": "plain Go", "ort": "ONNX Runtime"}

// timedNote names the native library, if there is one, by its version and not by
// its file.
func timedNote(library string) string {
	note := "prediction for one inference; measured: median of 10"
	if name, _, _ := strings.Cut(library, ","); name != "" {
		note += ", in " + name
	}
	return note
}

// timeModel predicts and times a model.
func (s *Stage) timeModel(ctx context.Context, runtime, family string, size []string) ([]Measure, Line) {
	file := family + ".onnx"
	s.run(ctx, "edgeprof", append([]string{"synth", family, "--out", file}, size...)...)
	var counts struct {
		MACs struct {
			Total float64 `json:"total"`
		} `json:"macs"`
	}
	s.runJSON(ctx, &counts, "edgeprof", "inspect", file, "--json")
	var ranking struct {
		Candidates []struct {
			Seconds float64 `json:"predicted_execution_time"`
			Low     float64 `json:"low"`
			High    float64 `json:"high"`
			Level   float64 `json:"level"`
		} `json:"candidates"`
	}
	s.runJSON(ctx, &ranking, "edgeprof", "rank", file, "--calibration", rates(runtime), "--json")
	var took struct {
		P50     float64 `json:"p50_seconds"`
		Library string  `json:"library"`
	}
	s.runJSON(ctx, &took, "edgeprof", "time", file, "--runtime", runtime, "--runs", "10", "--json")
	if s.failed(nil) {
		return nil, Line{}
	}
	p := ranking.Candidates[0]
	made := uncertainty.Prediction{Value: p.Seconds, Low: p.Low, High: p.High, Level: p.Level}.Times(1000)
	return []Measure{
		{family + ", predicted", made.Value, "ms", fmt.Sprintf("interval %s to %s", Number(made.Low), Number(made.High))},
		{family + ", measured", 1000 * took.P50, "ms", fmt.Sprintf("median of 10; %s million multiply-accumulates", Number(counts.MACs.Total/1e6))},
	}, Line{What: family + " in " + runtimeNames[runtime], Predicted: &made, Measured: 1000 * took.P50, Unit: "ms", Note: timedNote(took.Library)}
}
