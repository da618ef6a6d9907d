package native

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/onnx/nodetest"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

const conformance = "/usr/share/libonnx-testdata/data"

// tensorFile reads one of the conformance suite's .pb tensors.
func tensorFile(t *testing.T, path string) (runtime.Tensor, bool) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out onnx.Tensor
	for len(data) > 0 {
		n, typ, size := protowire.ConsumeTag(data)
		data = data[size:]
		switch {
		case typ == protowire.VarintType:
			v, size := protowire.ConsumeVarint(data)
			data = data[size:]
			if n == 1 {
				out.Dims = append(out.Dims, int64(v))
			} else if n == 2 {
				out.Type = onnx.DataType(v)
			}
		case typ == protowire.BytesType:
			v, size := protowire.ConsumeBytes(data)
			data = data[size:]
			switch n {
			case 1:
				for len(v) > 0 {
					d, size := protowire.ConsumeVarint(v)
					out.Dims, v = append(out.Dims, int64(d)), v[size:]
				}
			case 9, 4:
				out.Data = v
			}
		default:
			return runtime.Tensor{}, false
		}
	}
	if out.Data == nil {
		out.Data = []byte{}
	}
	a, err := read(&out, nil)
	return runtime.Tensor{Shape: out.Dims, Data: a.data}, err == nil
}

// The conformance models that can be loaded give the suite's own outputs to
// 1e-5; those that use what this runtime does not know are counted.
func TestRealConformance(t *testing.T) {
	models, err := filepath.Glob(conformance + "/*/*/model.onnx")
	if err != nil || len(models) == 0 {
		t.Skip("needs the ONNX conformance models: install with apt-get install libonnx-testdata")
	}
	ran := map[string]int{}
	for _, path := range models {
		if strings.Contains(path, "BFLOAT16") {
			continue // the suite's files hold such numbers as whole ones
		}
		m, err := onnx.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		s, err := Load(m, file, onnx.Settings{}, time.Now)
		if err != nil {
			continue
		}
		inputs, outputs, ok := testSet(t, m, filepath.Join(filepath.Dir(path), "test_data_set_0"))
		if !ok {
			continue
		}
		got, err := s.Run(t.Context(), inputs)
		if err != nil {
			continue
		}
		name := filepath.Base(filepath.Dir(path))
		for out, want := range outputs {
			compare(t, name+" "+out, got[out].Data, want.Data)
		}
		for _, n := range m.Graph.Nodes {
			ran[n.Op]++
		}
	}
	total := 0
	for _, n := range ran {
		total += n
	}
	t.Logf("%d nodes of %d operators: %v", total, len(ran), ran)
	for op := range kernels {
		if ran[op] == 0 && op != "Constant" && op != "Gelu" && op != "Upsample" && op != "Mish" {
			t.Errorf("no conformance model runs %s", op)
		}
	}
}

// testSet reads a test's inputs, other than initializers, and outputs.
func testSet(t *testing.T, m *onnx.Model, dir string) (inputs, outputs map[string]runtime.Tensor, ok bool) {
	t.Helper()
	inputs, outputs = map[string]runtime.Tensor{}, map[string]runtime.Tensor{}
	for i, v := range m.Graph.Inputs {
		path := filepath.Join(dir, "input_"+string(rune('0'+i))+".pb")
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if inputs[v.Name], ok = tensorFile(t, path); !ok {
			return nil, nil, false
		}
	}
	for i, v := range m.Graph.Outputs {
		path := filepath.Join(dir, "output_"+string(rune('0'+i))+".pb")
		if _, err := os.Stat(path); err != nil {
			return nil, nil, false
		}
		if outputs[v.Name], ok = tensorFile(t, path); !ok {
			return nil, nil, false
		}
	}
	return inputs, outputs, true
}

func compare(t *testing.T, what string, got, want []float32) {
	t.Helper()
	compareWithin(t, what, got, want, 1e-5)
}

func compareWithin(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		g, w := float64(got[i]), float64(want[i])
		if math.Abs(g-w) > tolerance*(1+math.Abs(w)) && !(math.IsNaN(g) && math.IsNaN(w)) {
			t.Errorf("%s: value %d is %v, want %v", what, i, g, w)
			return
		}
	}
}

// ONNX's own node tests that the Go runtime accepts have their outputs; it refuses the
// others by the name of an operator.
func TestRealNodes(t *testing.T) {
	folders := nodetest.Models(t)
	accepted, compared := 0, 0
	refused := map[string]int{}
	for _, folder := range folders {
		name := filepath.Base(folder)
		path := filepath.Join(folder, "model.onnx")
		m, err := onnx.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Load(m, file, onnx.Settings{}, time.Now)
		file.Close()
		if err != nil {
			if !errors.Is(err, runtime.ErrUnsupported) {
				t.Errorf("%s: %v", name, err)
			}
			refused[m.Graph.Nodes[0].Op]++
			continue
		}
		accepted++
		inputs, outputs, ok := testSet(t, m, filepath.Join(folder, "test_data_set_0"))
		if !ok {
			continue
		}
		got, err := s.Run(t.Context(), inputs)
		if errors.Is(err, runtime.ErrUnsupported) { // a size that is the value of an input
			refused[m.Graph.Nodes[0].Op]++
			continue
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		compared++
		tolerance := 1e-5
		if strings.Contains(name, "float16") {
			tolerance = 1e-3 // half a step of such numbers
		}
		for out, want := range outputs {
			compareWithin(t, name+" "+out, got[out].Data, want.Data, tolerance)
		}
	}
	t.Logf("%d models: %d accepted, the outputs of %d compared; refused: %v", len(folders), accepted, compared, refused)
	if accepted < 650 || compared < 550 {
		t.Errorf("%d accepted, %d compared", accepted, compared)
	}
}
