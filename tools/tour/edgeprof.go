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
	"strings"

	"github.com/foretime/foretime/shared/uncertainty"
)

// edgeProf generates models of three families, predicts their time on this machine
// from rates measured with other sizes, and then measures them in ONNX Runtime. Without
// it, it shows what the built-in rates predict.
func edgeProf(ctx context.Context, s *Stage) Chapter {
	var c Chapter
	unmeasured := s.calibrate(ctx)
	for _, model := range [][]string{
		{"mobilenetv2", "--resolution", "160"}, {"resnet", "--width", "0.75", "--resolution", "128"}, {"transformer", "--depth", "6"},
	} {
		c.Story = append(c.Story, s.timeModel(ctx, unmeasured, model[0], model[1:]))
	}
	return c
}

// calibrate measures this machine in an installed ONNX Runtime, or else in one that it
// installs below out/real. It returns why there is none, or "".
func (s *Stage) calibrate(ctx context.Context) (unmeasured string) {
	before := len(*s.commands)
	calibrate := func() { s.run(ctx, "edgeprof", "calibrate", "--bursts", "3", "--out", rates) }
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

// rates is the file with this machine's rates.
const rates = "rates.json"

// timeModel predicts a model and, unless a reason not to is given, times it: the median
// of ten inferences.
func (s *Stage) timeModel(ctx context.Context, unmeasured, family string, size []string) Line {
	file := family + ".onnx"
	s.run(ctx, "edgeprof", append([]string{"synth", family, "--out", file}, size...)...)
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
	if s.hasFailed(nil) {
		return Line{}
	}
	p := ranking.Candidates[0]
	made := uncertainty.Prediction{Value: p.Seconds, Low: p.Low, High: p.High, Level: p.Level}.Times(1000)
	version, _, _ := strings.Cut(took.Library, ",") // without its file
	return Line{What: family + " in " + cmp.Or(version, "ONNX Runtime"), Predicted: &made, Measured: 1000 * took.P50, Unit: "ms", Unmeasured: unmeasured}
}
