package native

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/edgeprof/runtime"
)

// array is a tensor during a run.
type array struct {
	shape []int
	data  []float32
}

// step is one node, ready to run.
type step struct {
	node    int
	op      string
	name    string
	inputs  []string
	outputs []string
	shapes  [][]int
	kernel  kernel
	frees   []string // tensors that nobody needs after this step
}

// kernel computes a node: its inputs are there, its outputs have their shape.
type kernel func(in []array, out []array, scratch *scratch)

// Session is a model with its weights in memory.
type Session struct {
	steps     []step
	weights   map[string]array
	inputs    map[string][]int
	outputs   []string
	clock     runtime.Clock
	times     []runtime.NodeTime
	pool      pool
	scratch   scratch
	constants map[string]bool
}

var _ runtime.Session = (*Session)(nil)

// Load reads a model's weights from its file and prepares its nodes. The
// settings decide open dimensions, as in [onnx.Analyze]. The error matches
// [runtime.ErrUnsupported] or [onnx.ErrGraph], or is the file's own.
func Load(m *onnx.Model, file io.ReaderAt, settings onnx.Settings, clock runtime.Clock) (*Session, error) {
	a, err := onnx.Analyze(m, settings)
	if err != nil {
		return nil, err
	}
	s := &Session{weights: map[string]array{}, inputs: map[string][]int{}, clock: clock, constants: map[string]bool{}}
	for i := range m.Graph.Initializers {
		if err := s.weight(&m.Graph.Initializers[i], file); err != nil {
			return nil, err
		}
	}
	for _, v := range m.Graph.Inputs {
		t := a.Tensors[v.Name]
		if t.Constant {
			continue
		}
		if t.Type != onnx.Float32 || !t.Known {
			return nil, fmt.Errorf("%w: input %q is %v of shape %v", runtime.ErrUnsupported, v.Name, t.Type, t.Shape)
		}
		s.inputs[v.Name] = lengths(t.Shape)
	}
	for _, v := range m.Graph.Outputs {
		s.outputs = append(s.outputs, v.Name)
	}
	for _, cost := range a.Costs {
		if err := s.prepare(&m.Graph.Nodes[cost.Node], cost, a); err != nil {
			return nil, err
		}
	}
	s.plan()
	return s, nil
}

func lengths(shape []int64) []int {
	out := make([]int, len(shape))
	for i, n := range shape {
		out[i] = int(n)
	}
	return out
}

func volume(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// weight reads one float32 initializer; whole numbers are known to the analysis.
func (s *Session) weight(t *onnx.Tensor, file io.ReaderAt) error {
	s.constants[t.Name] = true
	if t.Type == onnx.Int64 || t.Type == onnx.Int32 {
		return nil
	}
	shape := lengths(t.Dims)
	n := volume(shape)
	if t.Type != onnx.Float32 || t.External {
		return fmt.Errorf("%w: initializer %q is %v (external %v)", runtime.ErrUnsupported, t.Name, t.Type, t.External)
	}
	raw := t.Data
	if raw == nil {
		if t.Offset == 0 || t.Stored != int64(4*n) {
			return fmt.Errorf("%w: initializer %q has %d bytes of data in its file, want %d", runtime.ErrUnsupported, t.Name, t.Stored, 4*n)
		}
		raw = make([]byte, t.Stored)
		if _, err := file.ReadAt(raw, t.Offset); err != nil {
			return fmt.Errorf("initializer %q: %w", t.Name, err)
		}
	}
	if len(raw) != 4*n {
		return fmt.Errorf("%w: initializer %q has %d bytes of data, want %d", runtime.ErrUnsupported, t.Name, len(raw), 4*n)
	}
	a := array{shape, make([]float32, n)}
	for i := range a.data {
		a.data[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	s.weights[t.Name] = a
	return nil
}

// prepare chooses a node's kernel. Nodes that compute shapes were computed by
// the analysis and need none.
func (s *Session) prepare(n *onnx.Node, cost onnx.Cost, a *onnx.Analysis) error {
	whole := true
	for _, out := range cost.Outputs {
		whole = whole && out.Constant && out.Value != nil && out.Type != onnx.Float32
	}
	if whole && len(cost.Outputs) > 0 {
		for _, name := range n.Outputs {
			s.constants[name] = true
		}
		return nil
	}
	st := step{node: cost.Node, op: n.Op, name: n.Name, inputs: slices.Clone(n.Inputs), outputs: n.Outputs}
	for i, out := range cost.Outputs {
		if n.Outputs[i] != "" && (!out.Known || out.Type != onnx.Float32) {
			return fmt.Errorf("%w: node %d (%s): output %q is %v of shape %v", runtime.ErrUnsupported, cost.Node, n.Op, n.Outputs[i], out.Type, out.Shape)
		}
		st.shapes = append(st.shapes, lengths(out.Shape))
	}
	var values [][]int64
	for _, in := range cost.Inputs {
		values = append(values, in.Value)
	}
	make, ok := kernels[n.Op]
	if !ok || n.Domain != "" && n.Domain != "ai.onnx" {
		return fmt.Errorf("%w: node %d: operator %s %s", runtime.ErrUnsupported, cost.Node, n.Domain, n.Op)
	}
	var err error
	if st.kernel, err = make(site{node: n, cost: cost, values: values}); err != nil {
		return fmt.Errorf("node %d (%s): %w", cost.Node, n.Op, err)
	}
	s.steps = append(s.steps, st)
	return nil
}

// plan notes after which step each tensor is free.
func (s *Session) plan() {
	last := map[string]int{}
	for i, st := range s.steps {
		for _, name := range append(slices.Clone(st.inputs), st.outputs...) {
			last[name] = i
		}
	}
	for _, name := range s.outputs {
		delete(last, name)
	}
	for name, i := range last {
		_, given := s.inputs[name]
		if _, kept := s.weights[name]; !kept && !given && name != "" && !s.constants[name] {
			s.steps[i].frees = append(s.steps[i].frees, name)
		}
	}
}

// Run makes one inference; see [runtime.Session]. A kernel's panic, which only
// a model that contradicts itself can cause, is an error.
func (s *Session) Run(ctx context.Context, inputs map[string]runtime.Tensor) (out map[string]runtime.Tensor, err error) {
	live := map[string]array{}
	for name, shape := range s.inputs {
		t, ok := inputs[name]
		if !ok {
			return nil, fmt.Errorf("%w: input %q is missing", runtime.ErrInput, name)
		}
		if !slices.Equal(lengths(t.Shape), shape) || len(t.Data) != volume(shape) {
			return nil, fmt.Errorf("%w: input %q has shape %v and %d values, want %v", runtime.ErrInput, name, t.Shape, len(t.Data), shape)
		}
		live[name] = array{shape, t.Data}
	}
	at := 0
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: node %d (%s): %v", runtime.ErrUnsupported, s.steps[at].node, s.steps[at].op, p)
		}
	}()
	s.times = s.times[:0]
	for i := range s.steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at = i
		s.step(&s.steps[i], live)
	}
	out = map[string]runtime.Tensor{}
	for _, name := range s.outputs {
		a, ok := live[name]
		if !ok {
			if a, ok = s.weights[name]; !ok {
				return nil, fmt.Errorf("%w: output %q is not computed", runtime.ErrUnsupported, name)
			}
		}
		shape := make([]int64, len(a.shape))
		for i, n := range a.shape {
			shape[i] = int64(n)
		}
		out[name] = runtime.Tensor{Shape: shape, Data: a.data}
	}
	return out, nil
}

func (s *Session) step(st *step, live map[string]array) {
	in, out := make([]array, len(st.inputs)), make([]array, len(st.outputs))
	for i, name := range st.inputs {
		a, ok := live[name]
		if !ok {
			a = s.weights[name]
		}
		in[i] = a
	}
	for i, name := range st.outputs {
		if name != "" {
			out[i] = array{st.shapes[i], s.pool.take(volume(st.shapes[i]))}
		}
	}
	start := s.clock()
	st.kernel(in, out, &s.scratch)
	s.times = append(s.times, runtime.NodeTime{Node: st.node, Name: st.name, Op: st.op, Seconds: s.clock().Sub(start).Seconds()})
	for i, name := range st.outputs {
		live[name] = out[i]
	}
	for _, name := range st.frees {
		s.pool.give(live[name].data)
		delete(live, name)
	}
}

// Time makes some inferences; see [runtime.Session].
func (s *Session) Time(ctx context.Context, inputs map[string]runtime.Tensor, runs int) ([]float64, error) {
	seconds := make([]float64, runs)
	for i := range seconds {
		start := s.clock()
		if _, err := s.Run(ctx, inputs); err != nil {
			return nil, err
		}
		seconds[i] = s.clock().Sub(start).Seconds()
	}
	return seconds, nil
}

// Profile makes some inferences with the times of their nodes, in the order
// they ran.
func (s *Session) Profile(ctx context.Context, inputs map[string]runtime.Tensor, runs int) ([]runtime.Profile, error) {
	profiles := make([]runtime.Profile, runs)
	for i := range profiles {
		seconds, err := s.Time(ctx, inputs, 1)
		if err != nil {
			return nil, err
		}
		profiles[i] = runtime.Profile{Seconds: seconds[0], Nodes: slices.Clone(s.times)}
	}
	return profiles, nil
}

// Close frees nothing that the garbage collector does not.
func (s *Session) Close() error { return nil }

// Inputs are the shapes the model wants, by name.
func (s *Session) Inputs() map[string][]int64 {
	out := map[string][]int64{}
	for name, shape := range s.inputs {
		for _, n := range shape {
			out[name] = append(out[name], int64(n))
		}
	}
	return out
}

// pool keeps freed memory by size.
type pool struct{ free map[int][][]float32 }

func (p *pool) take(n int) []float32 {
	if list := p.free[n]; len(list) > 0 {
		p.free[n] = list[:len(list)-1]
		return list[len(list)-1]
	}
	return make([]float32, n)
}

func (p *pool) give(data []float32) {
	if data == nil {
		return
	}
	if p.free == nil {
		p.free = map[int][][]float32{}
	}
	p.free[len(data)] = append(p.free[len(data)], data)
}

// scratch is memory that kernels share.
type scratch struct{ buffers [2][]float32 }

func (s *scratch) get(i, n int) []float32 {
	if len(s.buffers[i]) < n {
		s.buffers[i] = make([]float32, n)
	}
	return s.buffers[i][:n]
}
