package placement

import (
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
)

// TestUnsupported: a device whose runtime has no kernel for an operator, or cannot hold a
// type, is excluded; the same device with another runtime is not.
func TestUnsupported(t *testing.T) {
	value := func(name string) onnx.Value {
		return onnx.Value{Name: name, Type: onnx.Float32, Known: true, Shape: []onnx.Dim{{Size: 4}, {Size: 8}}}
	}
	for name, test := range map[string]struct {
		op, reason string
		weights    []onnx.Tensor
	}{
		"an operator": {"Einsum", "Einsum", nil},
		"a type":      {"Relu", "int4", []onnx.Tensor{{Name: "q", Type: onnx.DataType(22), Dims: []int64{8}}}},
		"neither":     {"Relu", "", nil},
	} {
		node := onnx.Node{Op: test.op, Inputs: []string{"x"}, Outputs: []string{"y"}}
		if test.op == "Einsum" {
			node.Attributes = []onnx.Attribute{{Name: "equation", String: "ab->ba"}}
		}
		a, err := onnx.Analyze(&onnx.Model{Opsets: map[string]int64{"": 21}, Graph: onnx.Graph{
			Inputs: []onnx.Value{value("x")}, Outputs: []onnx.Value{value("y")}, Nodes: []onnx.Node{node}, Initializers: test.weights,
		}}, onnx.Settings{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, runtime := range []string{"go", "ort"} {
			estimate, err := GraphEstimator(a, []device.Device{{Cores: 4}}, []*profiler.Calibration{{Facts: profiler.Facts{Runtime: runtime}, Low: 1, High: 1}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = estimate(0)
			if excluded := runtime == "go" && test.reason != ""; excluded != (err != nil) || excluded && !strings.Contains(err.Error(), test.reason) {
				t.Errorf("%s, %s: %v", name, runtime, err)
			}
		}
	}
}
