package ncnn

import (
	"fmt"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// layers holds the layers with operators of ONNX, by ncnn's names; their settings are numbered
// as in docs/developer-guide/operators.md of Tencent/ncnn.
var layers = map[string]func(*graph, *layer) error{
	"Input": input, "Padding": padding, "Reshape": reshape, "Permute": permute, "Slice": slice, "Crop": crop, "DetectionOutput": detections, "YoloDetectionOutput": detections, "Yolov3DetectionOutput": detections, "MemoryData": memory, "Split": copies,
	"Convolution": convolution, "ConvolutionDepthWise": convolution, "Deconvolution": deconvolution, "DeconvolutionDepthWise": deconvolution,
	"InnerProduct": innerProduct, "Gemm": gemm, "MultiHeadAttention": attention, "Pooling": pooling, "Concat": concat,
	"BinaryOp": binary, "Eltwise": eltwise, "BatchNorm": batchNorm, "LayerNorm": layerNorm,
	"ReLU": same("Relu"), "Sigmoid": same("Sigmoid"), "TanH": same("Tanh"), "HardSwish": same("HardSwish"), "HardSigmoid": same("HardSigmoid"),
	"GELU": same("Gelu"), "Mish": same("Mish"), "Clip": same("Clip"), "Softmax": same("Softmax"), "LRN": same("LRN"), "Swish": same("Swish"),
}

// same has an operator of its own name in ONNX, whose settings cost nothing.
func same(op string) func(*graph, *layer) error {
	return func(g *graph, l *layer) error {
		g.node("", op, l, l.inputs)
		return nil
	}
}

func input(g *graph, l *layer) error {
	name := l.outputs[0]
	shape := g.shapes[name]
	if shape == nil {
		w, h, c := l.number(0, 0), l.number(1, 0), l.number(2, 0)
		dims := float64(3)
		switch {
		case w <= 0: // an image of any size
			c, h, w = -1, -1, -1
		case h <= 0:
			dims = 1
		case c <= 0:
			dims = 2
		}
		shape = shapeOf([]float64{dims, float64(w), float64(h), float64(c)})
		g.shapes[name] = shape
	}
	g.g.Inputs = append(g.g.Inputs, value(name, shape))
	return nil
}

func padding(g *graph, l *layer) error {
	g.node("", "Pad", l, l.inputs, onnx.IntsAttribute("pads", 0, l.number(7, 0), l.number(0, 0), l.number(2, 0), 0, l.number(8, 0), l.number(1, 0), l.number(3, 0)))
	return nil
}

// reshape's sizes come fastest first; -1 is the remaining size.
func reshape(g *graph, l *layer) error {
	shape := []int64{1}
	for _, id := range []int{2, 1, 0} {
		if n := l.number(id, -233); n != -233 {
			shape = append(shape, n)
		}
	}
	g.node("", "Reshape", l, l.inputs, onnx.IntsAttribute("shape", shape...))
	return nil
}

func permute(g *graph, l *layer) error {
	g.node(Domain, "Permute", l, l.inputs, onnx.IntAttribute("order", l.number(0, 0)))
	return nil
}

// slice cuts along an axis, evenly where it says so of any part.
func slice(g *graph, l *layer) error {
	attributes := []onnx.Attribute{onnx.IntAttribute("axis", 1+l.number(1, 0))}
	var sizes []int64
	for _, v := range l.settings[0] {
		if v < 0 {
			sizes = nil
			break
		}
		sizes = append(sizes, int64(v))
	}
	switch {
	case len(sizes) == len(l.outputs):
		attributes = append(attributes, onnx.IntsAttribute("split", sizes...))
	case l.shape(len(l.outputs)-1) != nil: // uneven parts follow from the hints
		g.node(Domain, "Slice", l, l.inputs)
		return nil
	}
	g.node("", "Split", l, l.inputs, attributes...)
	return nil
}

// crop is by starts, ends and axes in newer files.
func crop(g *graph, l *layer) error {
	starts, ends, axes := l.settings[9], l.settings[10], l.settings[11]
	if len(starts) == 0 || len(ends) != len(starts) || len(axes) != len(starts) {
		g.node(Domain, "Crop", l, l.inputs)
		return nil
	}
	var of [3][]int64
	for i := range starts {
		a := int64(axes[i])
		if a >= 0 {
			a++
		}
		of[0], of[1], of[2] = append(of[0], int64(starts[i])), append(of[1], int64(ends[i])), append(of[2], a)
	}
	g.node("", "Slice", l, l.inputs, onnx.IntsAttribute("starts", of[0]...), onnx.IntsAttribute("ends", of[1]...), onnx.IntsAttribute("axes", of[2]...))
	return nil
}

// detections are as many as an image has; a hundred are counted: class, score
// and corners of each.
func detections(g *graph, l *layer) error {
	g.shapes[l.outputs[0]] = []int64{1, 100, 6}
	g.node(Domain, l.kind, l, l.inputs)
	return nil
}

func memory(g *graph, l *layer) error {
	dims := []int64{1}
	for _, id := range []int{2, 1, 0} {
		if n := l.number(id, 0); n > 0 {
			dims = append(dims, n)
		}
	}
	g.g.Initializers = append(g.g.Initializers, onnx.Tensor{Name: l.outputs[0], Type: onnx.Float32, Dims: dims})
	return nil
}

// copies are none: all who take one take the input.
func copies(g *graph, l *layer) error {
	if len(l.inputs) != 1 {
		return fmt.Errorf("layer %s (Split): %d inputs, want 1", l.name, len(l.inputs))
	}
	for _, name := range l.outputs {
		g.stands[name] = l.inputs[0]
	}
	return nil
}

// window reads kernel, dilation and stride of both sides, and the padding.
func (l *layer) window(kernel, dilation, stride, pad int) (w, h int64, attributes []onnx.Attribute) {
	both := func(id int) (x, y int64) {
		x = l.number(id, 1)
		return x, l.number(id+10, x)
	}
	w, h = both(kernel)
	sw, sh := both(stride)
	attributes = []onnx.Attribute{onnx.IntsAttribute("kernel_shape", h, w), onnx.IntsAttribute("strides", sh, sw)}
	if dilation >= 0 {
		dw, dh := both(dilation)
		attributes = append(attributes, onnx.IntsAttribute("dilations", dh, dw))
	}
	left := l.number(pad, 0)
	top := l.number(pad+10, left)
	right, bottom := l.number(pad+11, left), l.number(pad+12, top)
	switch left {
	case -233:
		return w, h, append(attributes, onnx.TextAttribute("auto_pad", "SAME_UPPER"))
	case -234:
		return w, h, append(attributes, onnx.TextAttribute("auto_pad", "SAME_LOWER"))
	}
	return w, h, append(attributes, onnx.IntsAttribute("pads", top, left, bottom, right))
}

// kind is the data type of a layer's weights.
func (l *layer) kind8() onnx.DataType {
	if l.number(8, 0) != 0 {
		return onnx.Int8
	}
	return onnx.Float32
}

// share is the rest of a weight's elements over the sizes that are known.
func (l *layer) share(elements int64, sizes ...int64) (int64, error) {
	n := int64(1)
	for _, s := range sizes {
		n *= s
	}
	if n < 1 || elements < 1 || elements%n != 0 {
		return 0, fmt.Errorf("%s %s: %d weights do not fit sizes %v", l.kind, l.name, elements, sizes)
	}
	return elements / n, nil
}

// activations lists the functions that ncnn runs within another layer, by number.
var activations = map[int64]string{1: "Relu", 2: "LeakyRelu", 3: "Clip", 4: "Sigmoid", 5: "Mish", 6: "HardSwish"}

// activated appends a node, and the activation that its layer ends in.
func (g *graph) activated(op string, l *layer, inputs []string, attributes ...onnx.Attribute) {
	if then := activations[l.number(9, 0)]; then != "" {
		g.node("", then, l, []string{g.step("", op, l, inputs, attributes...)})
		return
	}
	g.node("", op, l, inputs, attributes...)
}

func convolution(g *graph, l *layer) error { return g.filtered("Conv", l, l.number(0, 0)) }

func deconvolution(g *graph, l *layer) error {
	return g.filtered("ConvTranspose", l, l.number(0, 0)/max(1, l.number(7, 1)))
}

// filtered appends a convolution whose weights have so many filters.
func (g *graph) filtered(op string, l *layer, filters int64) error {
	w, h, attributes := l.window(1, 2, 3, 4)
	channels, err := l.share(l.number(6, 0), filters, w, h)
	if err != nil {
		return err
	}
	sizes := []int64{filters, channels, h, w}
	if op == "ConvTranspose" {
		sizes[0], sizes[1] = channels, filters
	}
	inputs := []string{l.inputs[0], g.weights(l, "weight", l.kind8(), sizes...)}
	if l.number(5, 0) != 0 {
		inputs = append(inputs, g.weights(l, "bias", onnx.Float32, l.number(0, 0)))
	}
	g.activated(op, l, inputs, append(attributes, onnx.IntAttribute("group", max(1, l.number(7, 1))))...)
	return nil
}

// innerProduct multiplies every row of a matrix, and all of an image at once.
func innerProduct(g *graph, l *layer) error {
	out := l.number(0, 0)
	in, err := l.share(l.number(2, 0), out)
	if err != nil {
		return err
	}
	x := l.inputs[0]
	if len(g.shapes[x]) != 3 {
		x = g.step("", "Flatten", l, []string{x})
	}
	y := g.step("", "MatMul", l, []string{x, g.weights(l, "weight", l.kind8(), in, out)})
	if l.number(1, 0) != 0 {
		y = g.step("", "Add", l, []string{y, g.weights(l, "bias", onnx.Float32, out)})
	}
	then := activations[l.number(9, 0)]
	if then == "" {
		then = "Identity"
	}
	g.node("", then, l, []string{y})
	return nil
}

// gemm is a product of matrices, of which some may be weights.
func gemm(g *graph, l *layer) error {
	m, n, k := l.number(7, 0), l.number(8, 0), l.number(9, 0)
	inputs := append([]string{}, l.inputs...)
	transposed := [2]int64{l.number(2, 0), l.number(3, 0)}
	var factors []string
	for i, sizes := range [2][2]int64{{m, k}, {k, n}} {
		switch {
		case l.number(4+i, 0) != 0:
			factors = append(factors, g.weights(l, []string{"a", "b"}[i], onnx.Float32, sizes[0], sizes[1]))
			transposed[i] = 0 // as a constant it may stand either way
		case len(inputs) > 0:
			factors, inputs = append(factors, inputs[0]), inputs[1:]
		default:
			return fmt.Errorf("layer %s (Gemm): an input is missing", l.name)
		}
	}
	g.node("com.microsoft", "FusedMatMul", l, factors, onnx.IntAttribute("transA", transposed[0]), onnx.IntAttribute("transB", transposed[1]))
	return nil
}

// attention is query, key and value by weights, their products, and the weights
// of the result: as many multiply-accumulates as with several heads.
func attention(g *graph, l *layer) error {
	size := l.number(0, 0)
	if size < 1 {
		return fmt.Errorf("MultiHeadAttention %s: its size is missing", l.name)
	}
	var parts [3]string
	for i, what := range []string{"query", "key", "value"} {
		from := l.inputs[min(i, len(l.inputs)-1)]
		parts[i] = g.step("", "MatMul", l, []string{from, g.weights(l, what, onnx.Float32, size, size)})
	}
	scores := g.step("com.microsoft", "FusedMatMul", l, []string{parts[0], parts[1]}, onnx.IntAttribute("transB", 1))
	shares := g.step("", "Softmax", l, []string{scores})
	mixed := g.step("", "MatMul", l, []string{shares, parts[2]})
	g.node("", "MatMul", l, []string{mixed, g.weights(l, "out", onnx.Float32, size, size)})
	return nil
}

func pooling(g *graph, l *layer) error {
	kind := [2]string{"MaxPool", "AveragePool"}[min(1, max(0, l.number(0, 0)))]
	if l.number(4, 0) != 0 {
		g.node("", "Global"+kind, l, l.inputs)
		return nil
	}
	_, _, attributes := l.window(1, -1, 2, 3)
	switch l.number(5, 0) {
	case 0:
		attributes = append(attributes, onnx.IntAttribute("ceil_mode", 1))
	case 2:
		attributes = append(attributes, onnx.TextAttribute("auto_pad", "SAME_UPPER"))
	case 3:
		attributes = append(attributes, onnx.TextAttribute("auto_pad", "SAME_LOWER"))
	}
	g.node("", kind, l, l.inputs, attributes...)
	return nil
}

func concat(g *graph, l *layer) error {
	g.node("", "Concat", l, l.inputs, onnx.IntAttribute("axis", 1+l.number(0, 0)))
	return nil
}

func binary(g *graph, l *layer) error {
	ops := map[int64]string{0: "Add", 1: "Sub", 2: "Mul", 3: "Div", 4: "Max", 5: "Min", 6: "Pow", 7: "Sub", 8: "Div"}
	op := ops[l.number(0, 0)]
	if op == "" {
		op = "Pow"
	}
	inputs := l.inputs
	if l.number(1, 0) != 0 {
		inputs = append(append([]string{}, inputs...), g.weights(l, "scalar", onnx.Float32))
	}
	g.node("", op, l, inputs)
	return nil
}

func eltwise(g *graph, l *layer) error {
	g.node("", [3]string{"Mul", "Sum", "Max"}[min(2, max(0, l.number(0, 0)))], l, l.inputs)
	return nil
}

func batchNorm(g *graph, l *layer) error {
	inputs := []string{l.inputs[0]}
	for _, what := range []string{"scale", "bias", "mean", "variance"} {
		inputs = append(inputs, g.weights(l, what, onnx.Float32, l.number(0, 0)))
	}
	g.node("", "BatchNormalization", l, inputs)
	return nil
}

func layerNorm(g *graph, l *layer) error {
	inputs := []string{l.inputs[0]}
	if l.number(2, 1) != 0 {
		inputs = append(inputs, g.weights(l, "scale", onnx.Float32, l.number(0, 0)), g.weights(l, "bias", onnx.Float32, l.number(0, 0)))
	}
	g.node("", "LayerNormalization", l, inputs, onnx.IntAttribute("axis", -1))
	return nil
}
