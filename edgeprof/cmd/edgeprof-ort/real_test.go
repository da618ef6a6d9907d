package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	edgeprof "github.com/foretime/foretime/edgeprof/internal/cli"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/edgeprof/internal/runtime/worker"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/testkit/scripttest"
)

// role makes the test binary the worker.
const role = "FORETIME_TEST_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(role) != "" {
		cli.Main(newCommand)
	}
	scripttest.Main(m, "edgeprof-ort", newCommand, map[string]func(){"edgeprof": func() { cli.Main(edgeprof.New) }})
}

func start(t *testing.T, path string) (*worker.Session, error) {
	t.Helper()
	s, err := worker.Start(t.Context(), worker.Command{Path: os.Args[0], Env: append(os.Environ(), role+"=1")}, worker.Model{Path: path, Threads: 1})
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

func needLibrary(t *testing.T) {
	t.Helper()
	if err := open(t.Context(), ""); err != nil {
		t.Skipf("needs ONNX Runtime: %v", err)
	}
}

func random(shapes map[string][]int64) map[string]runtime.Tensor {
	rng := rand.New(rand.NewPCG(1, 2))
	in := map[string]runtime.Tensor{}
	for name, shape := range shapes {
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		t := runtime.Tensor{Shape: shape}
		for range n {
			t.Data = append(t.Data, rng.Float32())
		}
		in[name] = t
	}
	return in
}

var tiny = map[string]synth.Size{
	"vgg": {Width: 0.1, Depth: 11, Resolution: 32}, "alexnet": {Width: 0.1, Resolution: 96}, "densenet": {Width: 0.25, Resolution: 64}, "resnet": {Width: 0.25, Resolution: 64},
	"googlenet": {Width: 0.25, Resolution: 64}, "mobilenetv2": {Width: 0.25, Resolution: 64}, "efficientnet": {Width: 0.25, Resolution: 64},
	"lstm": {Width: 0.25, Resolution: 8}, "mlp": {Width: 0.5}, "transformer": {Width: 0.25, Depth: 2, Resolution: 16},
}

// ONNX Runtime runs every family, and its profile has the times of its kernels.
func TestRealFamilies(t *testing.T) {
	needLibrary(t)
	for _, family := range synth.Families() {
		t.Run(family, func(t *testing.T) {
			m, err := synth.New(family, tiny[family])
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "m.onnx")
			file, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(onnx.Write(file, m, synth.RandomWeights(1)), file.Close()); err != nil {
				t.Fatal(err)
			}
			session, err := start(t, path)
			if err != nil {
				t.Fatal(err)
			}
			in := random(session.Inputs())
			profiles, err := session.Profile(t.Context(), in, 2)
			if err != nil || len(profiles) != 2 {
				t.Fatalf("%d profiles, %v", len(profiles), err)
			}
			for _, p := range profiles {
				sum := 0.0
				for _, n := range p.Nodes {
					sum += n.Seconds
				}
				if len(p.Nodes) < 5 || sum <= 0 || sum > 1.01*p.Seconds+1e-5 {
					t.Errorf("%d kernels of %v s in an inference of %v s", len(p.Nodes), sum, p.Seconds)
				}
			}
			found(t, m, profiles[1])
			if timed, err := session.Time(t.Context(), in, 3); err != nil || len(timed.Seconds) != 3 {
				t.Errorf("%v, %v", timed, err)
			}
			if _, err := session.Time(t.Context(), nil, 1); !errors.Is(err, runtime.ErrInput) {
				t.Errorf("no input: %v", err)
			}
		})
	}
}

// found checks that the kernels which the rules of fusion leave are those that
// ONNX Runtime ran, nine in ten, reshapes apart: it leaves out many.
func found(t *testing.T, m *onnx.Model, p runtime.Profile) {
	t.Helper()
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	kernels := a.Kernels()
	asked, missing := 0, map[string]int{}
	for k, seconds := range measurement.KernelTimes(kernels, p) {
		if kernels[k].Op == "Reshape" {
			continue
		}
		asked++
		if seconds == 0 {
			missing[kernels[k].Op]++
		}
	}
	lost := 0
	for _, n := range missing {
		lost += n
	}
	if lost > asked/10 {
		t.Errorf("%d of %d kernels are not in the profile: %v", lost, asked, missing)
	}
}

func TestRealErrors(t *testing.T) {
	needLibrary(t)
	if _, err := start(t, "/no/such.onnx"); err == nil || !strings.Contains(err.Error(), "/no/such.onnx") {
		t.Errorf("no file: %v", err)
	}
	path := filepath.Join(t.TempDir(), "bad.onnx")
	if err := os.WriteFile(path, []byte("not a model"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := start(t, path); err == nil {
		t.Error("a file that is no model is loaded")
	}
}

// Without the library the message says how to install it.
func TestNoLibrary(t *testing.T) {
	_, err := worker.Start(t.Context(), worker.Command{Path: os.Args[0], Env: append(os.Environ(), role+"=1")}, worker.Model{Path: "m.onnx", Library: "/no/such/libonnxruntime.so"})
	if !errors.Is(err, runtime.ErrUnavailable) || !strings.Contains(err.Error(), "ONNX Runtime") {
		t.Error(err)
	}
}

// Nodes without a name have the times of their kernels.
func TestRealUnnamed(t *testing.T) {
	needLibrary(t)
	m, err := synth.New("lenet", synth.Size{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Graph.Nodes {
		m.Graph.Nodes[i].Name = ""
	}
	path := filepath.Join(t.TempDir(), "m.onnx")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(onnx.Write(file, m, synth.RandomWeights(1)), file.Close()); err != nil {
		t.Fatal(err)
	}
	session, err := start(t, path)
	if err != nil {
		t.Fatal(err)
	}
	profiles, err := session.Profile(t.Context(), random(session.Inputs()), 1)
	if err != nil {
		t.Fatal(err)
	}
	found(t, m, profiles[0])
}

func TestPlaces(t *testing.T) {
	m := &onnx.Model{Graph: onnx.Graph{Nodes: []onnx.Node{{Name: "Conv_0", Outputs: []string{"Conv_0_out"}}, {Name: "relu", Outputs: []string{"Relu_1_out"}}, {Name: "/model.0/conv/Conv", Outputs: []string{"/model.0/conv/Conv_output_0"}}}}}
	p := placesOf(&m.Graph, false)
	for kernel, want := range map[string]int{
		"Conv_0": 0, "fused Conv_0": 0, "Relu_1_out_nchwc": 1, "Conv_0_out_bn_nchwc": 0, "Conv_0/MatMulAddFusion": 0, "Conv_0_new_reshape": 0,
		"gemm_input_reshape_token_12": -1, "ReorderOutput": -1, "": -1,
		"/model.0/conv/Conv": 2, "fused /model.0/conv/Conv": 2, "/model.0/conv/Conv_nchwc": 2, "/model.0/conv/Conv/MatMulAddFusion": 2, "/model.0/conv/Conv_output_0_nchwc": 2, "/model.0/other": -1, "/": -1,
	} {
		if got := p.find(kernel); got != want {
			t.Errorf("%s: node %d, want %d", kernel, got, want)
		}
	}
}

func TestProfiles(t *testing.T) {
	node := func(name, op string, us float64) event {
		e := event{Category: "Node", Name: name, Duration: us}
		e.Args.Op = op
		return e
	}
	got := profiles([]event{
		{Category: "Session", Name: "session_initialization", Duration: 100},
		node("a_fence_before", "", 9), node("a_kernel_time", "Conv", 3), node("b_kernel_time", "Relu", 2),
		{Category: "Session", Name: "SequentialExecutor::Execute", Duration: 6}, {Category: "Session", Name: "model_run", Duration: 7},
		node("a_kernel_time", "Conv", 4), {Category: "Session", Name: "model_run", Duration: 5},
	}, places{"a": 0})
	if len(got) != 2 || len(got[0].Nodes) != 2 || got[0].Seconds != 7e-6 || got[0].Nodes[1] != (runtime.NodeTime{Node: -1, Name: "b", Op: "Relu", Seconds: 2e-6}) || got[0].Nodes[0].Node != 0 || len(got[1].Nodes) != 1 {
		t.Errorf("%+v", got)
	}
}

// The time of a loop is that of its body, whose nodes have events of their own.
func TestBodiesOfProfiles(t *testing.T) {
	node := func(name, op string, start, us float64) event {
		e := event{Category: "Node", Name: name + kernelTime, Start: start, Duration: us}
		e.Args.Op = op
		return e
	}
	got := profiles([]event{
		node("before", "Relu", 0, 5), node("inside", "MatMul", 12, 3), node("inside", "MatMul", 16, 3), node("loop", "Loop", 10, 10), node("after", "Relu", 20, 4),
		{Category: "Session", Name: "model_run", Duration: 30},
	}, places{"before": 0, "loop": 1, "after": 2})
	var names []string
	for _, n := range got[0].Nodes {
		names = append(names, n.Name)
	}
	if !slices.Equal(names, []string{"before", "loop", "after"}) {
		t.Errorf("nodes %v", names)
	}
}

// A model in half precision runs.
func TestRealHalf(t *testing.T) {
	needLibrary(t)
	half := func(name string) onnx.Value {
		return onnx.Value{Name: name, Type: onnx.Float16, Known: true, Shape: []onnx.Dim{{Size: 1}, {Size: 3}}}
	}
	path := filepath.Join(t.TempDir(), "half.onnx")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	m := &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17}, Graph: onnx.Graph{
		Name: "half", Inputs: []onnx.Value{half("x")}, Outputs: []onnx.Value{half("y")},
		Nodes: []onnx.Node{{Op: "Neg", Inputs: []string{"x"}, Outputs: []string{"y"}}},
	}}
	if err := errors.Join(onnx.Write(file, m, nil), file.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := start(t, path)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]runtime.Tensor{"x": {Shape: []int64{1, 3}, Data: []float32{0.5, -2, 1024}}}
	if timed, err := s.Time(t.Context(), in, 3); err != nil || len(timed.Seconds) != 3 {
		t.Errorf("%v, %v", timed, err)
	}
}
