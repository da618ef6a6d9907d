package native

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
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

// input holds the type and shape of one input of the model. Integers and booleans are float32
// like all others: a given value in [0, 1) is scaled to the integers from 0 to below, which
// makes random input valid.
type input struct {
	shape []int
	kind  onnx.DataType
	below int64
}

// valid are the values as the model takes them.
func (in *input) valid(data []float32) []float32 {
	if in.kind == onnx.Float32 || in.kind == onnx.Float64 {
		return data
	}
	out := make([]float32, len(data))
	for i, v := range data {
		switch {
		case in.kind == onnx.Float16:
			out[i] = runtime.FromFloat16(runtime.ToFloat16(v))
		case in.kind == onnx.BFloat16:
			out[i] = math.Float32frombits(math.Float32bits(v) &^ 0xffff)
		case in.kind == onnx.Bool:
			out[i] = truth(v >= 0.5)
		case v > 0 && v < 1:
			out[i] = float32(math.Trunc(float64(v) * float64(in.below)))
		default:
			out[i] = float32(math.Trunc(float64(v)))
		}
	}
	return out
}

// wholes says that a type is of whole numbers or truth values.
func wholes(t onnx.DataType) bool {
	switch t {
	case onnx.Float32, onnx.Float16, onnx.BFloat16, onnx.Float64:
		return false
	}
	return true
}

// arithmetic are the operators whose results may be beyond a short type.
var arithmetic = map[string]bool{"Add": true, "Sub": true, "Mul": true, "Div": true, "Pow": true, "Sum": true, "Neg": true, "Cast": true, "ReduceSum": true, "ReduceProd": true}

// wraps reports whether numbers beyond a type continue at its other end.
func wraps(t onnx.DataType) bool {
	return wholes(t) && t.Bits() < 32 && t != onnx.Bool || t == onnx.Uint32
}

// exact bounds the whole numbers that float32 holds.
const exact = 1 << 24

// kernel computes a node: its inputs are there, its outputs have their shape.
type kernel func(in []array, out []array, scratch *scratch)

// Session is a model with its weights in memory.
type Session struct {
	steps     []step
	weights   map[string]array
	inputs    map[string]input
	outputs   []string
	clock     runtime.Clock
	processor ProcessorTime
	times     []runtime.NodeTime
	pool      pool
	scratch   scratch
	constants map[string]bool
}

var _ runtime.Session = (*Session)(nil)

// ProcessorTime returns the processor time of this process so far.
type ProcessorTime func() (time.Duration, error)

// UseProcessorTime has kernels timed by the processor time that they take if that
// is less than their wall time: what they wait for a processor is other work's. It
// is for sessions of one thread.
func (s *Session) UseProcessorTime(t ProcessorTime) { s.processor = t }

// Load reads a model's weights from its file and prepares its nodes. The
// settings decide open dimensions, as in [onnx.Analyze]. The error matches
// [runtime.ErrUnsupported] or [onnx.ErrGraph], or is the file's own.
func Load(m *onnx.Model, file io.ReaderAt, settings onnx.Settings, clock runtime.Clock) (*Session, error) {
	a, err := onnx.Analyze(m, settings)
	if err != nil {
		return nil, err
	}
	m = a.Model // with its functions inlined
	s := &Session{weights: map[string]array{}, inputs: map[string]input{}, clock: clock, constants: map[string]bool{}}
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
		if !isNumber(t.Type) || !t.Known {
			return nil, fmt.Errorf("%w: input %q has type %v and shape %v", runtime.ErrUnsupported, v.Name, t.Type, t.Shape)
		}
		s.inputs[v.Name] = input{lengths(t.Shape), t.Type, a.IndexBound(v.Name)}
	}
	for _, v := range m.Graph.Outputs {
		s.outputs = append(s.outputs, v.Name)
	}
	for _, cost := range a.Costs {
		if err := s.prepare(&m.Graph.Nodes[cost.Node], cost, a, file); err != nil {
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

func dims(shape []int) []int64 {
	out := make([]int64, len(shape))
	for i, n := range shape {
		out[i] = int64(n)
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

// isNumber reports whether float32 can represent a type's values: whole numbers as far as they
// are below 2^24, which is checked where they are known.
func isNumber(t onnx.DataType) bool { return numbers[t] != nil }

// weight reads one initializer.
func (s *Session) weight(t *onnx.Tensor, file io.ReaderAt) error {
	s.constants[t.Name] = true
	a, err := read(t, file)
	if err != nil {
		return err
	}
	s.weights[t.Name] = a
	return nil
}

// read is a tensor's values.
func read(t *onnx.Tensor, file io.ReaderAt) (array, error) {
	a := array{shape: lengths(t.Dims)}
	n := volume(a.shape)
	width := int(t.Type.Bits() / 8)
	if !isNumber(t.Type) || t.External {
		return a, fmt.Errorf("%w: initializer %q has type %v (external: %v)", runtime.ErrUnsupported, t.Name, t.Type, t.External)
	}
	raw := t.Data
	if raw == nil && n > 0 {
		if t.Offset == 0 || t.Stored != int64(width*n) {
			return a, fmt.Errorf("%w: initializer %q has %d bytes of data in its file, want %d", runtime.ErrUnsupported, t.Name, t.Stored, width*n)
		}
		raw = make([]byte, t.Stored)
		if _, err := file.ReadAt(raw, t.Offset); err != nil {
			return a, fmt.Errorf("initializer %q: %w", t.Name, err)
		}
	}
	if len(raw) != width*n {
		return a, fmt.Errorf("%w: initializer %q has %d bytes of data, want %d", runtime.ErrUnsupported, t.Name, len(raw), width*n)
	}
	a.data = make([]float32, n)
	for i := range a.data {
		a.data[i] = numbers[t.Type](raw[width*i:])
	}
	return a, nil
}

// numbers read the value at the start of raw data, by its type.
var numbers = map[onnx.DataType]func(raw []byte) float32{
	onnx.Float32:  func(b []byte) float32 { return math.Float32frombits(little.Uint32(b)) },
	onnx.Float16:  func(b []byte) float32 { return runtime.FromFloat16(little.Uint16(b)) },
	onnx.BFloat16: func(b []byte) float32 { return math.Float32frombits(uint32(little.Uint16(b)) << 16) },
	onnx.Float64:  func(b []byte) float32 { return float32(math.Float64frombits(little.Uint64(b))) },
	onnx.Int64:    func(b []byte) float32 { return float32(int64(little.Uint64(b))) },
	onnx.Int32:    func(b []byte) float32 { return float32(int32(little.Uint32(b))) },
	onnx.Uint32:   func(b []byte) float32 { return float32(little.Uint32(b)) },
	onnx.Int16:    func(b []byte) float32 { return float32(int16(little.Uint16(b))) },
	onnx.Uint16:   func(b []byte) float32 { return float32(little.Uint16(b)) },
	onnx.Int8:     func(b []byte) float32 { return float32(int8(b[0])) },
	onnx.Uint8:    func(b []byte) float32 { return float32(b[0]) },
	onnx.Bool:     func(b []byte) float32 { return float32(b[0]) },
}

var little = binary.LittleEndian

// prepare chooses a node's kernel. Nodes that compute shapes were computed by
// the analysis and need none.
func (s *Session) prepare(n *onnx.Node, cost onnx.Cost, a *onnx.Analysis, file io.ReaderAt) error {
	if shapesAlone(&cost) {
		for i, name := range n.Outputs {
			s.constants[name] = true
			s.known(name, cost.Outputs[i])
		}
		return nil
	}
	st := step{node: cost.Node, op: n.Op, name: n.Name, inputs: slices.Clone(n.Inputs), outputs: n.Outputs}
	for i, out := range cost.Outputs {
		if n.Outputs[i] != "" && (!out.Known || !isNumber(out.Type) || wraps(out.Type) && arithmetic[n.Op]) {
			return fmt.Errorf("%w: node %d (%s): output %q has type %v and shape %v", runtime.ErrUnsupported, cost.Node, n.Op, n.Outputs[i], out.Type, out.Shape)
		}
		st.shapes = append(st.shapes, lengths(out.Shape))
	}
	var values [][]int64
	for _, in := range cost.Inputs {
		values = append(values, in.Value)
	}
	if cost.Times > 0 || len(cost.Bodies) > 0 {
		if err := s.control(&st, n, cost, a, file); err != nil {
			return fmt.Errorf("node %d (%s): %w", cost.Node, n.Op, err)
		}
		s.steps = append(s.steps, st)
		return nil
	}
	newKernel, ok := kernelOf(n)
	if !ok {
		return noKernel(cost.Node, n)
	}
	var err error
	if st.kernel, err = newKernel(site{opset: a.Model.Opsets[""], file: file, node: n, cost: cost, values: values}); err != nil {
		return fmt.Errorf("node %d (%s): %w", cost.Node, n.Op, err)
	}
	s.steps = append(s.steps, st)
	return nil
}

// known keeps whole numbers that the analysis worked out.
func (s *Session) known(name string, t onnx.TensorInfo) {
	a := array{lengths(t.Shape), make([]float32, len(t.Value))}
	for i, v := range t.Value {
		if v > exact || v < -exact {
			v = max(-exact, min(exact, v)) // an end of a slice: further than any tensor is long
		}
		a.data[i] = float32(v)
	}
	s.weights[name] = a
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
	for name, in := range s.inputs {
		t, ok := inputs[name]
		if !ok {
			return nil, fmt.Errorf("%w: input %q is missing", runtime.ErrInput, name)
		}
		if !slices.Equal(lengths(t.Shape), in.shape) || len(t.Data) != volume(in.shape) {
			return nil, fmt.Errorf("%w: input %q has shape %v and %d values, want %v", runtime.ErrInput, name, t.Shape, len(t.Data), in.shape)
		}
		live[name] = array{in.shape, in.valid(t.Data)}
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
				return nil, fmt.Errorf("%w: no node computes output %q", runtime.ErrUnsupported, name)
			}
		}
		out[name] = runtime.Tensor{Shape: dims(a.shape), Data: a.data}
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
			out[i] = array{st.shapes[i], s.pool.allocate(volume(st.shapes[i]))}
		}
	}
	seconds := s.timedKernel(func() { st.kernel(in, out, &s.scratch) })
	s.times = append(s.times, runtime.NodeTime{Node: st.node, Name: st.name, Op: st.op, Seconds: seconds})
	for i, name := range st.outputs {
		live[name] = out[i]
	}
	for _, name := range st.frees {
		s.pool.give(live[name].data)
		delete(live, name)
	}
}

// timedKernel runs a kernel and returns its seconds. The wall clock is read inside
// of the other, which takes longer to read.
func (s *Session) timedKernel(kernel func()) float64 {
	if s.processor == nil {
		start := s.clock()
		kernel()
		return s.clock().Sub(start).Seconds()
	}
	before, err := s.processor()
	start := s.clock()
	kernel()
	wall := s.clock().Sub(start)
	after, err2 := s.processor()
	if err != nil || err2 != nil {
		return wall.Seconds() // which is never too short
	}
	return min(wall, after-before).Seconds()
}

// Time makes some inferences; see [runtime.Session].
func (s *Session) Time(ctx context.Context, inputs map[string]runtime.Tensor, runs int) (runtime.Timing, error) {
	w := runtime.NewStopwatch(runs)
	for range w.Runs {
		seconds, err := s.timed(ctx, inputs)
		if err != nil {
			return runtime.Timing{}, err
		}
		w.Add(seconds)
	}
	return w.Timing(), nil
}

// timed makes an inference and says how many seconds it took.
func (s *Session) timed(ctx context.Context, inputs map[string]runtime.Tensor) (float64, error) {
	start := s.clock()
	_, err := s.Run(ctx, inputs)
	return s.clock().Sub(start).Seconds(), err
}

// Profile makes some inferences with the times of their nodes, in the order
// they ran.
func (s *Session) Profile(ctx context.Context, inputs map[string]runtime.Tensor, runs int) ([]runtime.Profile, error) {
	profiles := make([]runtime.Profile, runs)
	for i := range profiles {
		seconds, err := s.timed(ctx, inputs)
		if err != nil {
			return nil, err
		}
		profiles[i] = runtime.Profile{Seconds: seconds, Nodes: slices.Clone(s.times)}
	}
	return profiles, nil
}

// Close frees nothing that the garbage collector does not.
func (s *Session) Close() error { return nil }

// Inputs are the shapes the model wants, by name.
func (s *Session) Inputs() map[string][]int64 {
	out := map[string][]int64{}
	for name, in := range s.inputs {
		out[name] = dims(in.shape)
	}
	return out
}

// pool keeps freed memory by size.
type pool struct{ free map[int][][]float32 }

// allocate returns freed memory of a size, or new memory.
func (p *pool) allocate(n int) []float32 {
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
type scratch struct {
	buffers  [2][]float32
	products products
}

func (s *scratch) get(i, n int) []float32 {
	if len(s.buffers[i]) < n {
		s.buffers[i] = make([]float32, n)
	}
	return s.buffers[i][:n]
}
