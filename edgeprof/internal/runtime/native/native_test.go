package native

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

func session(t testing.TB, family string, size synth.Size) (*Session, map[string]runtime.Tensor) {
	t.Helper()
	m, err := synth.New(family, size)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := onnx.Write(&b, m, synth.RandomWeights(1)); err != nil {
		t.Fatal(err)
	}
	file := bytes.NewReader(b.Bytes())
	if m, err = onnx.Read(file, int64(b.Len())); err != nil {
		t.Fatal(err)
	}
	s, err := Load(m, file, onnx.Settings{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	inputs := map[string]runtime.Tensor{}
	for name, shape := range s.Inputs() {
		in := runtime.Tensor{Shape: shape, Data: make([]float32, volume(lengths(shape)))}
		for i := range in.Data {
			in.Data[i] = rng.Float32()
		}
		inputs[name] = in
	}
	return s, inputs
}

var tiny = map[string]synth.Size{
	"vgg": {Width: 0.1, Depth: 11, Resolution: 32}, "alexnet": {Width: 0.1, Resolution: 96}, "densenet": {Width: 0.25, Resolution: 64}, "resnet": {Width: 0.25, Resolution: 64},
	"googlenet": {Width: 0.25, Resolution: 64}, "mobilenetv2": {Width: 0.25, Resolution: 64}, "efficientnet": {Width: 0.25, Resolution: 64},
	"lstm": {Width: 0.25, Resolution: 8}, "mlp": {Width: 0.5}, "transformer": {Width: 0.25, Depth: 2, Resolution: 16},
}

// Every family runs, answers with probabilities that sum to 1, twice the same,
// and reports a time for each node it ran.
func TestFamilies(t *testing.T) {
	for _, name := range synth.Families() {
		t.Run(name, func(t *testing.T) {
			s, inputs := session(t, name, tiny[name])
			var first []float32
			for range 2 {
				out, err := s.Run(t.Context(), inputs)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range out {
					sum := 0.0
					for _, p := range o.Data {
						sum += float64(p)
					}
					if math.Abs(sum-1) > 1e-4 {
						t.Errorf("probabilities sum to %v", sum)
					}
					if first == nil {
						first = append(first, o.Data...)
					}
					for i := range first {
						if o.Data[i] != first[i] {
							t.Fatal("the second run differs")
						}
					}
				}
			}
			profiles, err := s.Profile(t.Context(), inputs, 2)
			if err != nil || len(profiles) != 2 {
				t.Fatalf("%d profiles, %v", len(profiles), err)
			}
			for _, p := range profiles {
				sum := 0.0
				for _, n := range p.Nodes {
					sum += n.Seconds
				}
				if len(p.Nodes) != len(s.steps) || sum > p.Seconds {
					t.Errorf("%d node times of %d nodes, %v s of %v s", len(p.Nodes), len(s.steps), sum, p.Seconds)
				}
			}
		})
	}
}

func TestErrors(t *testing.T) {
	s, inputs := session(t, "lenet", synth.Size{})
	if _, err := s.Run(t.Context(), nil); !errors.Is(err, runtime.ErrInput) {
		t.Errorf("no input: %v", err)
	}
	in := inputs["input"]
	in.Data = in.Data[:5]
	if _, err := s.Run(t.Context(), map[string]runtime.Tensor{"input": in}); !errors.Is(err, runtime.ErrInput) {
		t.Errorf("a short input: %v", err)
	}
	m, err := synth.New("lenet", synth.Size{})
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*onnx.Model){
		"an unknown operator": func(m *onnx.Model) { m.Graph.Nodes[1].Op = "Magic" },
		"a foreign domain":    func(m *onnx.Model) { m.Graph.Nodes[1].Domain = "com.example" },
		"half precision":      func(m *onnx.Model) { m.Graph.Initializers[0].Type = onnx.Float16 },
		"weights elsewhere":   func(m *onnx.Model) { m.Graph.Initializers[0].External = true },
		"missing weights":     func(m *onnx.Model) { m.Graph.Initializers[0].Offset, m.Graph.Initializers[0].Data = 0, nil },
	} {
		var b bytes.Buffer
		if err := onnx.Write(&b, m, synth.RandomWeights(1)); err != nil {
			t.Fatal(err)
		}
		file := bytes.NewReader(b.Bytes())
		broken, err := onnx.Read(file, int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		spoil(broken)
		if _, err := Load(broken, file, onnx.Settings{}, time.Now); !errors.Is(err, runtime.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for name, size := range map[string]synth.Size{"lenet": {}, "mobilenetv2": {}, "resnet": {Depth: 18}} {
		b.Run("model="+name, func(b *testing.B) {
			s, inputs := session(b, name, size)
			b.ResetTimer()
			for range b.N {
				if _, err := s.Run(b.Context(), inputs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
