package cli

import (
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/prediction"
)

// A size that is printed can be pasted: a shell and --dim make the same name of it.
func TestQuoted(t *testing.T) {
	for _, name := range []string{"batch", "x:2", "past_sequence_length + 1", "max(a, b)", `it's "so"`, "$HOME", "größe"} {
		typed, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+quoteArgument(name+"=3")).Output()
		if err != nil {
			t.Fatal(err)
		}
		var sizes []string
		c := newInspectCommand(nil)
		c.Flags().Lookup("dim").DefValue = ""
		if err := c.ParseFlags([]string{"--dim", string(typed)}); err != nil {
			t.Fatalf("%s: %v", typed, err)
		}
		if sizes, err = c.Flags().GetStringSlice("dim"); err != nil || len(sizes) != 1 || sizes[0] != name+"=3" {
			t.Errorf("%s: read as %q, %v", name, sizes, err)
		}
	}
}

// An assumed size together with an unknown cost is a lower bound.
func TestAssumedAndUnknown(t *testing.T) {
	open := onnx.Value{Name: "x", Type: onnx.Float32, Known: true, Shape: []onnx.Dim{{Size: 1}, {Size: -1, Name: "length"}}}
	m := &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17, "own": 1}, Graph: onnx.Graph{
		Inputs: []onnx.Value{open}, Nodes: []onnx.Node{{Op: "Relu", Inputs: []string{"x"}, Outputs: []string{"a"}}, {Op: "Unheard", Domain: "own", Inputs: []string{"a"}, Outputs: []string{"y"}}}, Outputs: []onnx.Value{{Name: "y"}},
	}}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	rates, err := (&prediction.Catalog{Builtin: builtInRates}).Rates("")
	if err != nil {
		t.Fatal(err)
	}
	p := rates.Predict(a, device.Device{Node: "n", Cores: 1}).Seconds
	if !(p.Low > 0) || !math.IsInf(p.High, 1) || !strings.HasPrefix(boundSeconds(p), ">= ") {
		t.Errorf("%+v, shown as %s", p, boundSeconds(p))
	}
	if lines := strings.Join(unknowns(a, nil, false), "; "); !strings.Contains(lines, "lower bound: --dim length=") {
		t.Error(lines)
	}
}
