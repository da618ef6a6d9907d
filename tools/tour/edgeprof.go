package tour

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/foretime/foretime/shared/uncertainty"
)

// edgeProf generates models of three families, predicts their time on this machine
// from rates measured with other sizes, and then measures them in ONNX Runtime. Without
// it, it shows what the built-in rates predict.
func edgeProf(ctx context.Context, s *Stage) Chapter {
	c := Chapter{
		Title: "a model on this machine",
		Why:   "Before buying a board you must know whether it runs your model in time. Here models of three families are generated, their times are predicted from rates measured with other sizes, and then measured.",
	}
	unmeasured := s.calibrate(ctx)
	for _, model := range [][]string{
		{"mobilenetv2", "--resolution", "160"}, {"resnet", "--width", "0.75", "--resolution", "128"}, {"transformer", "--depth", "6"},
	} {
		ms, line := s.timeModel(ctx, unmeasured, model[0], model[1:])
		c.Measures = append(c.Measures, ms...)
		c.Story = append(c.Story, line)
	}
	if unmeasured == "" {
		c.Measures = append(c.Measures, s.layers(ctx)...)
	}
	c.Measures = append(c.Measures, s.serveProfiling(ctx, 100))
	c.Commands = *s.commands
	return c
}

// calibrate measures this machine in an installed ONNX Runtime, or else in one that it
// installs below out/real. It returns why there is none, or "".
func (s *Stage) calibrate(ctx context.Context) (unmeasured string) {
	before := len(*s.commands)
	calibrate := func() { s.run(ctx, "edgeprof", "calibrate", "--runs", "3", "--out", rates) }
	calibrate()
	if s.err == nil || ctx.Err() != nil {
		return ""
	}
	fmt.Fprintf(s.Log, "%v\n", s.err)
	s.err, *s.commands = nil, (*s.commands)[:before]
	if err := s.installRuntime(ctx); err != nil {
		fmt.Fprintf(s.Log, "%v\n", err)
		return "not measured: ONNX Runtime is not installed (pip install onnxruntime)"
	}
	calibrate()
	if s.err == nil || ctx.Err() != nil {
		return ""
	}
	fmt.Fprintf(s.Log, "%v\n", s.err)
	s.err, *s.commands = nil, (*s.commands)[:before]
	return "not measured: ONNX Runtime does not run here"
}

// installRuntime installs the wheel that edgeprof's tests use, where make real does.
func (s *Stage) installRuntime(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(s.Root, "edgeprof", "real.txt"))
	if err != nil {
		return err
	}
	wheel := regexp.MustCompile(`(?m)^pip (onnxruntime==\S+)`).FindSubmatch(text)
	if wheel == nil {
		return errors.New("edgeprof/real.txt names no wheel of ONNX Runtime")
	}
	name := string(wheel[1])
	defer s.step("pip install " + name)()
	into := filepath.Join(s.Root, "out", "real", "pip", name)
	cmd := exec.CommandContext(ctx, "python3", "-m", "pip", "install", "--only-binary=:all:", "--no-deps", "--upgrade", "--target", into, name)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pip install %s: %w\n%s", name, err, tail(string(out)))
	}
	return nil
}

// layers returns the slowest kernels of a small network, measured and predicted.
func (s *Stage) layers(ctx context.Context) []Measure {
	s.run(ctx, "edgeprof", "synth", "alexnet", "--width", "0.5", "--resolution", "96", "--out", "layers.onnx")
	var found struct {
		Layers []layer `json:"layers"`
	}
	s.runJSON(ctx, &found, "edgeprof", "layers", "layers.onnx", "--measure", "--calibration", rates, "--json")
	slices.SortFunc(found.Layers, func(a, b layer) int { return cmp.Compare(b.Measured, a.Measured) })
	var ms []Measure
	for _, l := range found.Layers[:min(5, len(found.Layers))] {
		name := fmt.Sprintf("a layer of alexnet, %s to %s", l.Op, strings.Trim(strings.ReplaceAll(fmt.Sprint(l.Shape), " ", "x"), "[]"))
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

// rates is the file with this machine's rates.
const rates = "rates.json"

// timedNote names the native library, if there is one, by its version and not by
// its file.
func timedNote(library string) string {
	note := "prediction for one inference; measured: median of 10"
	if name, _, _ := strings.Cut(library, ","); name != "" {
		note += ", in " + name
	}
	return note
}

// timeModel predicts a model and, unless a reason not to is given, times it.
func (s *Stage) timeModel(ctx context.Context, unmeasured, family string, size []string) ([]Measure, Line) {
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
	rank := []string{"rank", file, "--json"}
	var took struct {
		P50     float64 `json:"p50_seconds"`
		Library string  `json:"library"`
	}
	if unmeasured == "" {
		rank = append(rank, "--calibration", rates)
	}
	s.runJSON(ctx, &ranking, "edgeprof", rank...)
	if unmeasured == "" {
		s.runJSON(ctx, &took, "edgeprof", "time", file, "--runs", "10", "--json")
	}
	if s.failed(nil) {
		return nil, Line{}
	}
	p := ranking.Candidates[0]
	made := uncertainty.Prediction{Value: p.Seconds, Low: p.Low, High: p.High, Level: p.Level}.Times(1000)
	line := Line{What: family + " in ONNX Runtime", Predicted: &made, Measured: 1000 * took.P50, Unit: "ms", Note: timedNote(took.Library), Unmeasured: unmeasured}
	ms := []Measure{{family + ", predicted", made.Value, "ms", fmt.Sprintf("interval %s to %s", Number(made.Low), Number(made.High))}}
	if unmeasured == "" {
		ms = append(ms, Measure{family + ", measured", line.Measured, "ms", fmt.Sprintf("median of 10; %s million multiply-accumulates", Number(counts.MACs.Total/1e6))})
	}
	return ms, line
}
