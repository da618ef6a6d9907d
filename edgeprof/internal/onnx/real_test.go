package onnx

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"
)

const conformance = "/usr/share/libonnx-testdata"

// oracle is what Debian's python3-onnx says of a model.
type oracle struct {
	Path                            string
	Conv, Filters, Pool, FC, Params int64
	Nodes                           int
	Shapes                          map[string][]int64
}

func askOracle(t *testing.T, folder string) []oracle {
	t.Helper()
	if _, err := os.Stat(conformance); err != nil {
		t.Skip("needs the ONNX conformance models: install with apt-get install libonnx-testdata")
	}
	if exec.Command("/usr/bin/python3", "-c", "import onnx").Run() != nil {
		t.Skip("needs ONNX for Python: install with apt-get install python3-onnx")
	}
	out, err := exec.Command("/usr/bin/python3", "testdata/oracle.py", folder).Output()
	if err != nil {
		t.Fatal(err)
	}
	var rows []oracle
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, 16<<20)
	for scan.Scan() {
		var row oracle
		if err := json.Unmarshal(scan.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// byValue are the operators whose output shape is the content of an input.
var byValue = map[string]bool{
	"Reshape": true, "Slice": true, "Resize": true, "Upsample": true, "Squeeze": true, "Unsqueeze": true, "Expand": true, "Tile": true,
	"TopK": true, "Pad": true, "ReduceSum": true, "Range": true, "OneHot": true,
}

// The counts of every conformance model equal the oracle's. Shapes are worked
// out without looking at those that the file states for its outputs: none may
// contradict the oracle, and nine in ten of the operators that have a rule must
// have one.
func TestRealConformance(t *testing.T) {
	rows := askOracle(t, conformance)
	if len(rows) < 1000 {
		t.Fatalf("%d models", len(rows))
	}
	known, asked := 0, 0
	for _, want := range rows {
		m, err := ReadFile(want.Path)
		if err != nil {
			t.Error(err)
			continue
		}
		c, err := characterize(m, Settings{})
		if err != nil {
			t.Errorf("%s: %v", want.Path, err)
			continue
		}
		got := oracle{want.Path, int64(c.ConvLayers), c.FilterDetails, int64(c.PoolLayers), int64(c.FCLayers), c.TotalParameters, c.Nodes, nil}
		if got.Conv != want.Conv || got.Filters != want.Filters || got.Pool != want.Pool || got.FC != want.FC || got.Params != want.Params || got.Nodes != want.Nodes {
			t.Errorf("%s: got %+v, want %+v", want.Path, got, want)
		}
		for i := range m.Graph.Outputs {
			m.Graph.Outputs[i].Known = false
		}
		m.Graph.Values = nil
		a, err := Analyze(m, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range m.Graph.Nodes {
			for _, name := range n.Outputs {
				shape, stated := want.Shapes[name]
				if byValue[n.Op] && !slices.ContainsFunc(n.Inputs[1:], func(in string) bool { return a.Tensors[in].Constant }) {
					continue // the shape is an input of the model
				}
				if !stated || slices.Contains(shape, -1) || slices.Contains(shape, 0) || !n.standard() || operators[n.Op].shape == nil {
					continue
				}
				asked++
				if s := a.Tensors[name]; s.Known {
					known++
					if !slices.Equal(s.Shape, shape) {
						t.Errorf("%s: %s %s: got %v, want %v", want.Path, n.Op, name, s.Shape, shape)
					}
				} else if testing.Verbose() {
					t.Logf("%s: %s %s: unknown, oracle %v", want.Path, n.Op, name, shape)
				}
			}
		}
	}
	t.Logf("%d models, shapes of %d of %d tensors worked out", len(rows), known, asked)
	if float64(known) < 0.9*float64(asked) {
		t.Errorf("shapes of %d of %d tensors", known, asked)
	}
}
