package native

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

// site is a node with what is known of it before it runs.
type site struct {
	node   *onnx.Node
	cost   onnx.Cost
	values [][]int64 // contents of inputs of whole numbers
	opset  int64
	file   io.ReaderAt // of the model
}

// kind is an input's type.
func (s site) kind(i int) onnx.DataType {
	if i < len(s.cost.Inputs) {
		return s.cost.Inputs[i].Type
	}
	return 0
}

func truth(yes bool) float32 {
	if yes {
		return 1
	}
	return 0
}

func (s site) in(i int) []int {
	if i < len(s.cost.Inputs) {
		return lengths(s.cost.Inputs[i].Shape)
	}
	return nil
}

func (s site) out(i int) []int { return lengths(s.cost.Outputs[i].Shape) }

func (s site) given(i int) bool { return i < len(s.node.Inputs) && s.node.Inputs[i] != "" }

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", runtime.ErrUnsupported, fmt.Sprintf(format, args...))
}

// kernels make an operator's kernel for a node.
var kernels = map[string]func(site) (kernel, error){
	"Conv": conv, "ConvTranspose": convTranspose, "MaxPool": pooling, "AveragePool": pooling, "GlobalAveragePool": globally(mean), "GlobalMaxPool": globally(greatest),
	"Gemm": gemm, "MatMul": matMul,
	"LSTM": recurrent(4, []string{"Sigmoid", "Tanh", "Tanh"}, lstm), "GRU": recurrent(3, []string{"Sigmoid", "Tanh"}, gru), "RNN": recurrent(1, []string{"Tanh"}, rnn),
	"QuantizeLinear": quantizeLinear, "DequantizeLinear": dequantizeLinear, "DynamicQuantizeLinear": dynamicQuantize,
	"ConvInteger": wholeProduct, "MatMulInteger": wholeProduct, "QLinearConv": quantizedProduct, "QLinearMatMul": quantizedProduct,
	"GatherElements": elements, "ScatterElements": elements, "Scatter": elements, "GatherND": slicesND, "ScatterND": slicesND, "TopK": topK, "CumSum": cumulative, "Trilu": triangle,
	"BatchNormalization": batchNormalization, "LayerNormalization": layerNormalization, "InstanceNormalization": instanceNormalization, "LRN": localResponse,
	"Softmax": softmax, "LogSoftmax": softmax, "ArgMax": argument, "ArgMin": argument,
	"ReduceMean": reduce(mean), "ReduceSum": reduce(total), "ReduceMax": reduce(greatest), "ReduceMin": reduce(least), "ReduceProd": reduce(product), "ReduceL2": reduce(length), "ReduceSumSquare": reduce(squares),
	"ReduceL1": reduce(absolute), "ReduceLogSum": reduce(logarithm), "ReduceLogSumExp": reduce(exponentials),
	"Flatten": same, "Reshape": reshape, "Squeeze": same, "Unsqueeze": same, "Identity": same, "Dropout": dropout,
	"Transpose": transpose, "Concat": concat, "Slice": slice, "Split": split, "Expand": expand, "Tile": tile, "Pad": pad, "Gather": gather, "Resize": resize, "Upsample": resize, "DepthToSpace": blocks, "SpaceToDepth": blocks,
	"Constant": constant, "ConstantOfShape": constantOfShape, "Range": sequence, "Cast": cast, "Where": where,
	"Equal": elementwise(func(a, b float32) float32 { return truth(a == b) }), "Less": elementwise(func(a, b float32) float32 { return truth(a < b) }), "Greater": elementwise(func(a, b float32) float32 { return truth(a > b) }),
	"LessOrEqual": elementwise(func(a, b float32) float32 { return truth(a <= b) }), "GreaterOrEqual": elementwise(func(a, b float32) float32 { return truth(a >= b) }),
	"And": elementwise(func(a, b float32) float32 { return a * b }), "Or": elementwise(func(a, b float32) float32 { return max(a, b) }), "Xor": elementwise(func(a, b float32) float32 { return truth(a != b) }), "Not": mapElements(func(x float32) float32 { return 1 - x }),
	"Relu":            relu,
	"Sigmoid":         doubleKernel(func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }),
	"Tanh":            doubleKernel(math.Tanh),
	"Erf":             erf,
	"Sqrt":            doubleKernel(math.Sqrt),
	"Exp":             doubleKernel(math.Exp),
	"Log":             doubleKernel(math.Log),
	"Sin":             doubleKernel(math.Sin),
	"Cos":             doubleKernel(math.Cos),
	"Abs":             doubleKernel(math.Abs),
	"Floor":           doubleKernel(math.Floor),
	"Ceil":            doubleKernel(math.Ceil),
	"Round":           doubleKernel(math.RoundToEven),
	"Reciprocal":      doubleKernel(func(x float64) float64 { return 1 / x }),
	"Softplus":        doubleKernel(func(x float64) float64 { return math.Log1p(math.Exp(-math.Abs(x))) + max(x, 0) }),
	"HardSwish":       doubleKernel(func(x float64) float64 { return x * max(0, min(1, x/6+0.5)) }),
	"Tan":             doubleKernel(math.Tan),
	"Asin":            doubleKernel(math.Asin),
	"Acos":            doubleKernel(math.Acos),
	"Atan":            doubleKernel(math.Atan),
	"Sinh":            doubleKernel(math.Sinh),
	"Cosh":            doubleKernel(math.Cosh),
	"Asinh":           doubleKernel(math.Asinh),
	"Acosh":           doubleKernel(math.Acosh),
	"Atanh":           doubleKernel(math.Atanh),
	"Softsign":        doubleKernel(func(x float64) float64 { return x / (1 + math.Abs(x)) }),
	"Mish":            doubleKernel(func(x float64) float64 { return x * math.Tanh(math.Log1p(math.Exp(-math.Abs(x)))+max(x, 0)) }),
	"Selu":            tuned(1.6732632, "gamma", 1.050701, func(x, alpha, gamma float64) float64 { return gamma * (max(x, 0) + alpha*math.Expm1(min(x, 0))) }),
	"Celu":            tuned(1, "", 0, func(x, alpha, _ float64) float64 { return max(x, 0) + alpha*math.Expm1(min(x, 0)/alpha) }),
	"Elu":             tuned(1, "", 0, func(x, alpha, _ float64) float64 { return max(x, 0) + alpha*math.Expm1(min(x, 0)) }),
	"HardSigmoid":     tuned(0.2, "beta", 0.5, func(x, alpha, beta float64) float64 { return max(0, min(1, alpha*x+beta)) }),
	"ThresholdedRelu": tuned(1, "", 0, func(x, alpha, _ float64) float64 { return x * float64(truth(x > alpha)) }),
	"Sign":            mapElements(func(x float32) float32 { return truth(x > 0) - truth(x < 0) }),
	"IsNaN":           mapElements(func(x float32) float32 { return truth(x != x) }),
	"Neg":             mapElements(func(x float32) float32 { return -x }),
	"LeakyRelu":       leakyRelu, "Clip": clip, "Gelu": gelu, "PRelu": elementwise(func(x, slope float32) float32 { return max(x, 0) + slope*min(x, 0) }),
	"Add": rowwise(func(a, b float32) float32 { return a + b }, sumRow), "Sub": elementwise(func(a, b float32) float32 { return a - b }),
	"Mul": rowwise(func(a, b float32) float32 { return a * b }, productRow), "Div": divide,
	"Pow": elementwise(func(a, b float32) float32 { return float32(math.Pow(float64(a), float64(b))) }),
	"Max": elementwise(func(a, b float32) float32 { return max(a, b) }), "Min": elementwise(func(a, b float32) float32 { return min(a, b) }),
	"Sum": elementwise(func(a, b float32) float32 { return a + b }),
}

// microsoft holds the kernels of ONNX Runtime's own operators (docs/ContribOperators.md),
// which its tools write into files.
var microsoft = map[string]func(site) (kernel, error){
	"QuantizeLinear": quantizeLinear, "DequantizeLinear": dequantizeLinear, "Gelu": gelu,
	"QLinearAdd": asReals("Add", 2, false), "QLinearMul": asReals("Mul", 2, false), "QLinearSigmoid": asReals("Sigmoid", 1, false), "QLinearLeakyRelu": asReals("LeakyRelu", 1, false),
	"QLinearGlobalAveragePool": asReals("GlobalAveragePool", 1, false), "QLinearAveragePool": asReals("AveragePool", 1, false), "QLinearConcat": asReals("Concat", 0, true),
}

// relu stands by itself, as sumRow and productRow do: a call for each value is most of what
// such operators cost.
func relu(site) (kernel, error) {
	return func(in, out []array, _ *scratch) {
		y := out[0].data
		for i, x := range in[0].data {
			y[i] = max(x, 0)
		}
	}, nil
}

// doubleKernel computes in double precision.
func doubleKernel(f func(float64) float64) func(site) (kernel, error) {
	return mapElements(func(x float32) float32 { return float32(f(float64(x))) })
}

func mapElements(f func(float32) float32) func(site) (kernel, error) {
	return func(site) (kernel, error) {
		return func(in, out []array, _ *scratch) {
			y := out[0].data
			for i, x := range in[0].data {
				y[i] = f(x)
			}
		}, nil
	}
}

func leakyRelu(s site) (kernel, error) {
	slope := s.float("alpha", 0.01)
	return mapElements(func(x float32) float32 {
		if x < 0 {
			return slope * x
		}
		return x
	})(s)
}

// clip takes its bounds from inputs, or from attributes before opset 11.
func clip(s site) (kernel, error) {
	low, high := s.float("min", -math.MaxFloat32), s.float("max", math.MaxFloat32)
	return func(in, out []array, _ *scratch) {
		low, high := low, high
		if s.given(1) {
			low = in[1].data[0]
		}
		if s.given(2) {
			high = in[2].data[0]
		}
		y := out[0].data
		for i, x := range in[0].data {
			y[i] = min(max(x, low), high)
		}
	}, nil
}

// checked is a kernel behind a check of numbers that decide over a shape and that
// are known only when they come: they have to say what the shapes say that the model
// was prepared for.
func (s site) checked(i int, kernel kernel, fits func(axis, v int) bool) kernel {
	if !s.given(i) || s.values[i] != nil {
		return kernel
	}
	return func(in, out []array, scratch *scratch) {
		for axis, v := range in[i].data {
			if !fits(axis, int(v)) {
				panic(fmt.Sprintf("%v in input %q: the model was prepared for other shapes", in[i].data, s.node.Inputs[i]))
			}
		}
		kernel(in, out, scratch)
	}
}

// reshape copies. In the shape 0 keeps a size and -1 is the size that is left.
func reshape(s site) (kernel, error) {
	kernel, err := same(s)
	shape := s.out(0)
	return s.checked(1, kernel, func(axis, v int) bool { return axis < len(shape) && (v == shape[axis] || v == 0 || v == -1) }), err
}

// same copies: the elements keep their order.
func same(site) (kernel, error) {
	return func(in, out []array, _ *scratch) { copy(out[0].data, in[0].data) }, nil
}

// dropout copies: it drops nothing but in training.
func dropout(s site) (kernel, error) {
	if s.given(2) && !slices.Equal(s.values[2], []int64{0}) {
		return nil, unsupported("training")
	}
	return func(in, out []array, _ *scratch) {
		copy(out[0].data, in[0].data)
		if len(out) > 1 {
			setAll(out[1].data, 1) // all are kept
		}
	}, nil
}

func constant(s site) (kernel, error) {
	if a := s.node.Attribute("value_float"); a != nil {
		return func(_, out []array, _ *scratch) { out[0].data[0] = a.Float }, nil
	}
	a := s.node.Attribute("value")
	if a == nil || a.Tensor == nil {
		return nil, unsupported("a constant that is not a tensor")
	}
	value, err := read(a.Tensor, s.file)
	if err != nil {
		return nil, err
	}
	return func(_, out []array, _ *scratch) { copy(out[0].data, value.data) }, nil
}

// constantOfShape repeats one value.
func constantOfShape(s site) (kernel, error) {
	v := float32(0)
	if a := s.node.Attribute("value"); a != nil && a.Tensor != nil {
		one, err := read(a.Tensor, nil)
		if err != nil || len(one.data) != 1 {
			return nil, unsupported("a value that is not one number")
		}
		v = one.data[0]
	}
	shape := s.out(0)
	kernel := func(_, out []array, _ *scratch) { setAll(out[0].data, v) }
	return s.checked(0, kernel, func(axis, v int) bool { return axis < len(shape) && v == shape[axis] }), nil
}

// sequence is as long as the analysis worked out.
func sequence(site) (kernel, error) {
	return func(in, out []array, _ *scratch) {
		start, end, step := in[0].data[0], in[1].data[0], in[2].data[0]
		if n := math.Ceil(float64(end-start) / float64(step)); n != float64(len(out[0].data)) {
			panic(fmt.Sprintf("%v numbers, %d were worked out", n, len(out[0].data)))
		}
		for i := range out[0].data {
			out[0].data[i] = start + float32(i)*step
		}
	}, nil
}

// tuned computes in double precision with two numbers that the node may have: alpha
// and another.
func tuned(alpha float32, other string, otherwise float32, f func(x, alpha, other float64) float64) func(site) (kernel, error) {
	return func(s site) (kernel, error) {
		a, b := float64(s.float("alpha", alpha)), float64(s.float(other, otherwise))
		return doubleKernel(func(x float64) float64 { return f(x, a, b) })(s)
	}
}

func gelu(s site) (kernel, error) {
	if s.node.Text("approximate") == "tanh" {
		return doubleKernel(func(x float64) float64 {
			return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
		})(s)
	}
	table := erfTable()
	return mapElements(func(x float32) float32 { return x / 2 * (1 + table.value(x/math.Sqrt2)) })(s)
}

// divide truncates whole numbers.
func divide(s site) (kernel, error) {
	if wholes(s.kind(0)) {
		return elementwise(func(a, b float32) float32 {
			if b == 0 {
				panic("a division of whole numbers by 0")
			}
			return float32(math.Trunc(float64(a) / float64(b)))
		})(s)
	}
	return elementwise(func(a, b float32) float32 { return a / b })(s)
}

// cast rounds towards zero to whole numbers.
func cast(s site) (kernel, error) {
	switch to := onnx.DataType(s.node.Int("to", 0)); to {
	case onnx.Float32, onnx.Float64:
		return same(s)
	case onnx.Bool:
		return mapElements(func(x float32) float32 { return truth(x != 0) })(s)
	case onnx.Int64, onnx.Int32, onnx.Int16, onnx.Int8, onnx.Uint8, onnx.Uint16, onnx.Uint32:
		return doubleKernel(math.Trunc)(s)
	default:
		return nil, unsupported("a cast to %v", to)
	}
}

// where takes values of one tensor or the other.
func where(s site) (kernel, error) {
	shape := s.out(0)
	sc, sa, sb := broadcastStrides(s.in(0), shape), broadcastStrides(s.in(1), shape), broadcastStrides(s.in(2), shape)
	return func(in, out []array, scratch *scratch) {
		chosen := scratch.get(0, volume(shape))
		gathered(in[0].data, chosen, shape, sc)
		a, b, y := in[1].data, in[2].data, out[0].data
		walk(shape, sa, sb, func(i, ia, ib, n, da, db int) {
			for k := range n {
				if chosen[i+k] != 0 {
					y[i+k] = a[ia+k*da]
				} else {
					y[i+k] = b[ib+k*db]
				}
			}
		})
	}, nil
}

func transpose(s site) (kernel, error) {
	from, shape := s.in(0), s.out(0)
	order := s.node.Ints("perm")
	own := strides(from)
	steps := make([]int, len(shape))
	for i := range steps {
		axis := len(shape) - 1 - i
		if len(order) == len(shape) {
			axis = int(order[i])
		}
		steps[i] = own[axis]
	}
	return func(in, out []array, _ *scratch) {
		gathered(in[0].data, out[0].data, shape, steps)
	}, nil
}

func axisOf(s site, name string, otherwise int64, rank int) int {
	a := s.node.Int(name, otherwise)
	if a < 0 {
		a += int64(rank)
	}
	return int(a)
}

func concat(s site) (kernel, error) {
	shape := s.out(0)
	at := axisOf(s, "axis", 0, len(shape))
	outer := volume(shape[:at])
	return func(in, out []array, _ *scratch) {
		row := volume(shape[at:])
		offset := 0
		for _, x := range in {
			n := len(x.data) / outer
			for o := range outer {
				copy(out[0].data[o*row+offset:][:n], x.data[o*n:][:n])
			}
			offset += n
		}
	}, nil
}

// slice by starts, ends and axes that are known ahead.
func slice(s site) (kernel, error) {
	get := func(i int, name string) []int64 {
		if s.given(i) {
			return s.values[i]
		}
		return s.node.Ints(name)
	}
	from, shape := s.in(0), s.out(0)
	starts, axes, steps := get(1, "starts"), get(3, "axes"), get(4, "steps")
	if starts == nil {
		return nil, unsupported("bounds that depend on the data")
	}
	own := strides(from)
	begin := 0
	moves := slices.Clone(own)
	for i, start := range starts {
		axis, step := i, 1
		if i < len(axes) {
			axis = int(axes[i])
			if axis < 0 {
				axis += len(from)
			}
		}
		if i < len(steps) {
			step = int(steps[i])
		}
		if start < 0 {
			start += int64(from[axis])
		}
		last := int64(from[axis])
		if step < 0 {
			last--
		}
		begin += int(min(max(start, 0), last)) * own[axis]
		moves[axis] = own[axis] * step
	}
	return func(in, out []array, _ *scratch) {
		gatheredFrom(begin, in[0].data, out[0].data, shape, moves)
	}, nil
}
