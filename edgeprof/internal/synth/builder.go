package synth

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// tensor is a value in the graph that is being built.
type tensor struct {
	name  string
	shape []int64
}

func (t tensor) channels() int64 { return t.shape[1] }

// builder adds nodes to a graph and follows the shapes. The first thing that
// does not fit is kept in err.
type builder struct {
	m   *onnx.Model
	err error
}

func (b *builder) input(name string, shape ...int64) tensor {
	b.m.Graph.Inputs = append(b.m.Graph.Inputs, value(name, shape))
	return tensor{name, shape}
}

func (b *builder) output(t tensor) (*onnx.Model, error) {
	b.m.Graph.Outputs = append(b.m.Graph.Outputs, value(t.name, t.shape))
	return b.m, b.err
}

func value(name string, shape []int64) onnx.Value {
	v := onnx.Value{Name: name, Type: onnx.Float32, Known: true}
	for _, n := range shape {
		v.Shape = append(v.Shape, onnx.Dim{Size: n})
	}
	return v
}

// weight adds an initializer of float32 that [RandomWeights] fills.
func (b *builder) weight(role string, shape ...int64) string {
	name := fmt.Sprintf("%s_%d", role, len(b.m.Graph.Initializers))
	size := int64(4)
	for _, n := range shape {
		size *= n
	}
	b.m.Graph.Initializers = append(b.m.Graph.Initializers, onnx.Tensor{Name: name, Type: onnx.Float32, Dims: shape, Stored: size})
	return name
}

// whole adds an initializer of whole numbers.
func (b *builder) whole(values ...int64) string {
	name := fmt.Sprintf("shape_%d", len(b.m.Graph.Initializers))
	data := make([]byte, 0, 8*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, uint64(v))
	}
	b.m.Graph.Initializers = append(b.m.Graph.Initializers, onnx.Tensor{
		Name: name, Type: onnx.Int64, Dims: []int64{int64(len(values))}, Stored: int64(len(data)), Data: data,
	})
	return name
}

// scalar adds an initializer with one float.
func (b *builder) scalar(v float32) string {
	name := fmt.Sprintf("scalar_%d", len(b.m.Graph.Initializers))
	b.m.Graph.Initializers = append(b.m.Graph.Initializers, onnx.Tensor{
		Name: name, Type: onnx.Float32, Dims: []int64{}, Stored: 4, Data: binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)),
	})
	return name
}

// add appends a node with one output of the given shape.
func (b *builder) add(op string, shape []int64, inputs []string, attributes ...onnx.Attribute) tensor {
	for _, n := range shape {
		if n < 1 && b.err == nil {
			b.err = fmt.Errorf("%w: the output of %s would have shape %v", ErrSize, op, shape)
		}
	}
	name := op + "_" + strconv.Itoa(len(b.m.Graph.Nodes))
	b.m.Graph.Nodes = append(b.m.Graph.Nodes, onnx.Node{Name: name, Op: op, Inputs: inputs, Outputs: []string{name + "_out"}, Attributes: attributes})
	return tensor{name + "_out", shape}
}

// window is a square kernel with its stride and padding.
type window struct{ kernel, stride, pad int64 }

func (w window) over(size int64) int64 {
	if size+2*w.pad < w.kernel {
		return 0
	}
	return (size+2*w.pad-w.kernel)/w.stride + 1
}

func (w window) attributes() []onnx.Attribute {
	return []onnx.Attribute{onnx.IntsAttribute("kernel_shape", w.kernel, w.kernel), onnx.IntsAttribute("strides", w.stride, w.stride), onnx.IntsAttribute("pads", w.pad, w.pad, w.pad, w.pad)}
}

// conv returns a convolution with bias.
func (b *builder) conv(x tensor, filters int64, w window) tensor {
	return b.groupedConv(x, filters, 1, w)
}

func (b *builder) groupedConv(x tensor, filters, groups int64, w window) tensor {
	inputs := []string{x.name, b.weight("conv_w", filters, x.channels()/groups, w.kernel, w.kernel), b.weight("bias", filters)}
	shape := []int64{x.shape[0], filters, w.over(x.shape[2]), w.over(x.shape[3])}
	return b.add("Conv", shape, inputs, append(w.attributes(), onnx.IntAttribute("group", groups))...)
}

func (b *builder) depthwise(x tensor, w window) tensor {
	return b.groupedConv(x, x.channels(), x.channels(), w)
}

func (b *builder) normalize(x tensor) tensor {
	c := x.channels()
	inputs := []string{x.name, b.weight("scale", c), b.weight("bias", c), b.weight("mean", c), b.weight("variance", c)}
	return b.add("BatchNormalization", x.shape, inputs, onnx.FloatAttribute("epsilon", 1e-5))
}

func (b *builder) unary(op string, x tensor) tensor { return b.add(op, x.shape, []string{x.name}) }

func (b *builder) relu(x tensor) tensor { return b.unary("Relu", x) }

func (b *builder) relu6(x tensor) tensor {
	return b.add("Clip", x.shape, []string{x.name, b.scalar(0), b.scalar(6)})
}

// swish returns x times its sigmoid.
func (b *builder) swish(x tensor) tensor { return b.binary("Mul", x, b.unary("Sigmoid", x)) }

// binary joins two tensors; the first has the shape of the result.
func (b *builder) binary(op string, x, y tensor) tensor {
	return b.add(op, x.shape, []string{x.name, y.name})
}

func (b *builder) pool(op string, x tensor, w window) tensor {
	shape := []int64{x.shape[0], x.channels(), w.over(x.shape[2]), w.over(x.shape[3])}
	return b.add(op, shape, []string{x.name}, w.attributes()...)
}

func (b *builder) globalPool(x tensor) tensor {
	return b.add("GlobalAveragePool", []int64{x.shape[0], x.channels(), 1, 1}, []string{x.name})
}

func (b *builder) concat(xs ...tensor) tensor {
	shape := append([]int64(nil), xs[0].shape...)
	names := []string{xs[0].name}
	for _, x := range xs[1:] {
		shape[1] += x.channels()
		names = append(names, x.name)
	}
	return b.add("Concat", shape, names, onnx.IntAttribute("axis", 1))
}

func (b *builder) flatten(x tensor) tensor {
	n := int64(1)
	for _, d := range x.shape[1:] {
		n *= d
	}
	return b.add("Flatten", []int64{x.shape[0], n}, []string{x.name}, onnx.IntAttribute("axis", 1))
}

// dense returns a fully connected layer on a flat tensor.
func (b *builder) dense(x tensor, units int64) tensor {
	inputs := []string{x.name, b.weight("dense_w", units, x.shape[1]), b.weight("bias", units)}
	return b.add("Gemm", []int64{x.shape[0], units}, inputs, onnx.IntAttribute("transB", 1))
}

func (b *builder) softmax(x tensor) tensor {
	return b.add("Softmax", x.shape, []string{x.name}, onnx.IntAttribute("axis", -1))
}

// linear returns a matrix product over the last axis, with bias.
func (b *builder) linear(x tensor, units int64) tensor {
	last := len(x.shape) - 1
	shape := append(append([]int64(nil), x.shape[:last]...), units)
	y := b.add("MatMul", shape, []string{x.name, b.weight("linear_w", x.shape[last], units)})
	return b.add("Add", shape, []string{y.name, b.weight("bias", units)})
}

func (b *builder) reshape(x tensor, shape ...int64) tensor {
	return b.add("Reshape", shape, []string{x.name, b.whole(shape...)})
}

func (b *builder) transpose(x tensor, order ...int64) tensor {
	shape := make([]int64, len(order))
	for i, o := range order {
		shape[i] = x.shape[o]
	}
	return b.add("Transpose", shape, []string{x.name}, onnx.IntsAttribute("perm", order...))
}

func (b *builder) layerNorm(x tensor) tensor {
	n := x.shape[len(x.shape)-1]
	return b.add("LayerNormalization", x.shape, []string{x.name, b.weight("scale", n), b.weight("bias", n)}, onnx.IntAttribute("axis", -1), onnx.FloatAttribute("epsilon", 1e-5))
}

// RandomWeights writes random weights for a model made by [New]: He-scaled normal
// values for products, values about 1 for scales and variances, small ones
// elsewhere. They depend on the seed and the tensor's name alone.
func RandomWeights(seed uint64) func(io.Writer, *onnx.Tensor) error {
	return func(w io.Writer, t *onnx.Tensor) error {
		h := fnv.New64a()
		io.WriteString(h, t.Name)
		rng := rand.New(rand.NewPCG(seed, h.Sum64()))
		if t.Type != onnx.Float32 {
			data := make([]byte, t.Stored)
			for i := range data {
				data[i] = byte(rng.Uint32())
			}
			_, err := w.Write(data)
			return err
		}
		draw := drawer(t)
		buffer := make([]byte, 0, 1<<15)
		for left := t.Stored / 4; left > 0; left-- {
			buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(draw(rng)))
			if len(buffer) == cap(buffer) || left == 1 {
				if _, err := w.Write(buffer); err != nil {
					return err
				}
				buffer = buffer[:0]
			}
		}
		return nil
	}
}

// drawer returns the distribution of a tensor's weights, by its role.
func drawer(t *onnx.Tensor) func(*rand.Rand) float32 {
	fan := int64(1)
	switch {
	case t.Name[0] == 'c': // conv_w is [filters, channels, window...]
		for _, n := range t.Dims[1:] {
			fan *= n
		}
	case len(t.Dims) == 3:
		fan = t.Dims[2]
	case len(t.Dims) == 2 && t.Name[0] == 'd': // dense_w is [units, inputs]
		fan = t.Dims[1]
	case len(t.Dims) == 2:
		fan = t.Dims[0]
	case t.Name[0] == 's' || t.Name[0] == 'v':
		return func(r *rand.Rand) float32 { return 1 + 0.1*(r.Float32()-0.5) }
	default:
		return func(r *rand.Rand) float32 { return 0.02 * (r.Float32() - 0.5) }
	}
	scale := float32(math.Sqrt(6 / float64(fan)))
	return func(r *rand.Rand) float32 { return scale * (2*r.Float32() - 1) }
}
