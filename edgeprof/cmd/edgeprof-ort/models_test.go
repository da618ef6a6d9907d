package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/foretime/foretime/edgeprof/internal/collection"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/edgeprof/internal/runtime/worker"
)

// wheels are models as people ship them, in packages of PyPI: the file, sizes of
// what it leaves open, and what it comes to. Multiply-accumulates are those of the
// shapes that ONNX Runtime has; parameters are elements of constants, counted by
// onnx 1.23.2 for Python.
var wheels = []struct {
	wheel, file  string
	sizes        map[string]int64
	macs, params int64
}{
	{"magika==1.0.3", "magika/models/standard_v3_3/model.onnx", nil, 366717952, 784519},
	{"nudenet==3.4.2", "nudenet/320n.onnx", map[string]int64{"height": 320, "width": 320}, 1012627200, 3009250},
	{"rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", map[string]int64{"x:2": 640, "x:3": 640}, 2301935744, 1171841},
	{"rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", map[string]int64{"x:2": 48, "x:3": 320}, 702469440, 2690407},
	{"rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", map[string]int64{"x:2": 48, "x:3": 192}, 16315376, 133777},
	{"silero-vad==6.2.3", "silero_vad/data/silero_vad_16k_op15.onnx", map[string]int64{"input:1": 512}, 563968, 0},
	{"silero-vad==6.2.3", "silero_vad/data/silero_vad_half.onnx", map[string]int64{"input:1": 512}, 563968, 0},
	{"silero-vad==6.2.3", "silero_vad/data/silero_vad_openvino_16k.onnx", nil, 679552, 309719},
	{"silero-vad==6.2.3", "silero_vad/data/silero_vad_16k_sequence.onnx", map[string]int64{"sequence_length": 1}, 745600, 309665},
	{"onnx==1.23.2", "onnx/backend/test/data/light/light_bvlc_alexnet.onnx", nil, 654560384, 60965226},
	{"onnx==1.23.2", "onnx/backend/test/data/light/light_densenet121.onnx", nil, 2834161664, 8146152},
	{"onnx==1.23.2", "onnx/backend/test/data/light/light_inception_v1.onnx", nil, 1431556352, 6998556},
	{"onnx==1.23.2", "onnx/backend/test/data/light/light_inception_v2.onnx", nil, 2018851840, 11234794},
	{"onnx==1.23.2", "onnx/backend/test/data/light/light_resnet50.onnx", nil, 4089184256, 25610155},
	{"onnx==1.23.2", "onnx/backend/test/data/light/light_shufflenet.onnx", nil, 124664528, 1420298},
	{"onnx==1.23.2", "onnx/backend/test/data/light/light_squeezenet.onnx", nil, 349151936, 1235496},
	{"onnx==1.23.2", "onnx/backend/test/data/light/light_vgg19.onnx", nil, 19632062464, 143667242},
	{"onnx==1.23.2", "onnx/backend/test/data/light/light_zfnet512.onnx", nil, 1481727008, 87250539},
}

// installed is the folder of a wheel in out/real/pip, here or above.
func installed(t testing.TB, wheel string) string {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, "out", "real", "pip", wheel)
		if _, err := os.Stat(at); err == nil {
			return at
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	t.Skipf("needs the wheel %s in out/real/pip", wheel)
	return ""
}

// The shapes of every tensor in the main graph are those that ONNX Runtime has.
func TestRealModels(t *testing.T) {
	for _, tt := range wheels {
		t.Run(filepath.Base(tt.file), func(t *testing.T) {
			path := filepath.Join(installed(t, tt.wheel), tt.file)
			m, err := onnx.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			a, err := onnx.Analyze(m, onnx.Settings{Sizes: tt.sizes})
			if err != nil {
				t.Fatal(err)
			}
			c, err := a.Characteristics()
			if err != nil || c.MACs.Total != tt.macs || tt.params > 0 && c.TotalParameters != tt.params || len(a.UncountedWarnings()) > 0 {
				t.Errorf("%d multiply-accumulates, %d parameters, %v, %v", c.MACs.Total, c.TotalParameters, c.Warnings, err)
			}
			loaded, err := load(t.Context(), worker.Model{Path: path, Threads: 1, Sizes: tt.sizes})
			if errors.Is(err, runtime.ErrUnavailable) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer loaded.Close()
			shapes, err := ranShapes(t.Context(), loaded)
			if err != nil || len(shapes) == 0 {
				t.Fatal(len(shapes), err)
			}
			compared := 0
			for _, s := range shapes {
				for i, shape := range s.Outputs {
					compared++
					if name := m.Graph.Nodes[s.Node].Outputs[i]; name != "" && !slices.Equal(a.Tensors[name].Shape, shape) {
						t.Errorf("%q: %v, ONNX Runtime has %v", name, a.Tensors[name].Shape, shape)
					}
				}
			}
			t.Logf("%d tensors, %d multiply-accumulates, %d parameters", compared, c.MACs.Total, c.TotalParameters)
		})
	}
}

// nodeShapes holds the shapes that one node's outputs had in an inference.
type nodeShapes struct {
	Node    int // index in the graph
	Outputs [][]int64
}

// ranShapes makes one inference without optimisations and returns the shapes of the results of
// the main graph's nodes.
func ranShapes(ctx context.Context, loaded worker.Served) ([]nodeShapes, error) {
	s, ok := loaded.(*session)
	if !ok {
		return nil, fmt.Errorf("%T is no session of ONNX Runtime", loaded)
	}
	events, err := s.watchNodes(ctx, ort.GraphOptimizationLevelDisableAll, collection.RandomInputs(loaded.Inputs()), 1)
	if err != nil {
		return nil, err
	}
	var out []nodeShapes
	for _, e := range events {
		name, isNode := strings.CutSuffix(e.Name, kernelTime)
		node, known := s.places[name]
		if e.Category != "Node" || !isNode || !known {
			continue
		}
		n := nodeShapes{Node: node}
		for _, o := range e.Args.Outputs {
			for _, shape := range o {
				n.Outputs = append(n.Outputs, append([]int64{}, shape...))
			}
		}
		out = append(out, n)
	}
	return out, nil
}
