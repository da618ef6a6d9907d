package synth

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// Returned when no model is made.
var (
	// ErrFamily is returned for a family that does not exist.
	ErrFamily = errors.New("unknown model family")
	// ErrSize is returned for a size that leaves a layer without output.
	ErrSize = errors.New("impossible model size")
)

// Size scales a family. A field of 0 is the family's own default.
type Size struct {
	Width      float64 // factor on channels, units and hidden sizes: 1
	Depth      int     // layers, blocks or steps, in the family's own sense
	Resolution int64   // pixels of a side, or length of a sequence
	Batch      int64   // 1
	Classes    int64   // outputs: 1000 (LeNet 10)
}

// family builds a model of one kind.
type family struct {
	defaults Size
	build    func(*builder, Size) tensor
}

// families by name. A new one is a function and a line here.
var families = map[string]family{
	"alexnet":             {Size{Resolution: 224}, alexNet},
	"densenet":            {Size{Resolution: 224, Depth: 121}, denseNet},
	"efficientnet":        {Size{Resolution: 224}, efficientNet},
	"googlenet":           {Size{Resolution: 224}, googLeNet},
	"lenet":               {Size{Resolution: 28, Classes: 10}, leNet},
	"lstm":                {Size{Resolution: 32, Depth: 2}, lstm},
	"mlp":                 {Size{Resolution: 28, Depth: 3}, mlp},
	"mobilenetv2":         {Size{Resolution: 224}, mobileNetV2},
	"operators":           {Size{Resolution: 64, Depth: 2}, operators},
	"operators-bytes":     {Size{Resolution: 32, Depth: 4}, byteChain},
	"operators-images":    {Size{Resolution: 64, Depth: 20}, imageChain},
	"operators-responses": {Size{Resolution: 28, Depth: 3}, responses},
	"operators-sequences": {Size{Resolution: 64, Depth: 12}, sequenceChain},
	"operators-signals": {Size{Resolution: 2000, Depth: 8}, func(b *builder, s Size) tensor {
		return b.chain(s).convolutions(b.input("input", s.Batch, 4, s.Resolution), s, []int64{1, 3, 3, 5, 9, 15})
	}},
	"operators-vectors": {Size{Resolution: 28, Depth: 6}, vectorChain},
	"operators-volumes": {Size{Resolution: 16, Depth: 6}, func(b *builder, s Size) tensor {
		return b.chain(s).convolutions(b.input("input", s.Batch, 4, s.Resolution, s.Resolution, s.Resolution), s, []int64{1, 3, 3, 3, 5})
	}},
	"resnet":      {Size{Resolution: 224, Depth: 18}, resNet},
	"transformer": {Size{Resolution: 64, Depth: 4}, transformer},
	"vgg":         {Size{Resolution: 224, Depth: 16}, vgg},
}

// Families returns the names that [New] knows, in order.
func Families() []string {
	names := make([]string, 0, len(families))
	for name := range families {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// New builds a model. The error matches [ErrFamily] or [ErrSize].
func New(name string, s Size) (*onnx.Model, error) {
	f, ok := families[name]
	if !ok {
		return nil, fmt.Errorf("%w %q: want one of %v", ErrFamily, name, Families())
	}
	s = s.withDefaults(f.defaults)
	if s.Width <= 0 || s.Width > 64 || math.IsNaN(s.Width) || s.Depth < 0 || s.Depth > 10_000 || s.Resolution < 1 || s.Resolution > 1<<16 || s.Batch < 1 || s.Batch > 1<<20 || s.Classes < 1 || s.Classes > 1<<24 {
		return nil, fmt.Errorf("%w: %+v", ErrSize, s)
	}
	b := &builder{m: &onnx.Model{
		IRVersion: 8, Producer: "foretime edgeprof synth", Opsets: map[string]int64{"": 17}, Graph: onnx.Graph{Name: name},
	}}
	out := f.build(b, s)
	return b.output(out)
}

func (s Size) withDefaults(d Size) Size {
	if s.Width == 0 {
		s.Width = 1
	}
	if s.Depth == 0 {
		s.Depth = d.Depth
	}
	if s.Resolution == 0 {
		s.Resolution = d.Resolution
	}
	if s.Batch == 0 {
		s.Batch = 1
	}
	if s.Classes == 0 {
		if s.Classes = d.Classes; s.Classes == 0 {
			s.Classes = 1000
		}
	}
	return s
}

// scaleWidth returns a width times the factor, at least 1.
func (s Size) scaleWidth(n int64) int64 { return max(1, int64(math.Round(float64(n)*s.Width))) }

// eighths rounds a scaled width to a multiple of 8, as the MobileNet papers do.
func (s Size) eighths(n int64) int64 {
	v := float64(n) * s.Width
	rounded := max(8, int64(v+4)/8*8)
	if float64(rounded) < 0.9*v {
		rounded += 8
	}
	return rounded
}

func (s Size) image(b *builder, channels int64) tensor {
	return b.input("input", s.Batch, channels, s.Resolution, s.Resolution)
}

// leNet: LeCun et al., "Gradient-Based Learning Applied to Document
// Recognition", 1998, with ReLU and max pooling.
func leNet(b *builder, s Size) tensor {
	x := s.image(b, 1)
	x = b.pool("MaxPool", b.relu(b.conv(x, s.scaleWidth(6), window{5, 1, 2})), window{2, 2, 0})
	x = b.pool("MaxPool", b.relu(b.conv(x, s.scaleWidth(16), window{5, 1, 0})), window{2, 2, 0})
	x = b.relu(b.dense(b.flatten(x), s.scaleWidth(120)))
	x = b.relu(b.dense(x, s.scaleWidth(84)))
	return b.softmax(b.dense(x, s.Classes))
}

// alexNet: Krizhevsky et al., NIPS 2012, on one device: 96, 256, 384, 384 and
// 256 filters, 1376 in all.
func alexNet(b *builder, s Size) tensor {
	x := s.image(b, 3)
	x = b.pool("MaxPool", b.relu(b.conv(x, s.scaleWidth(96), window{11, 4, 2})), window{3, 2, 0})
	x = b.pool("MaxPool", b.relu(b.conv(x, s.scaleWidth(256), window{5, 1, 2})), window{3, 2, 0})
	x = b.relu(b.conv(x, s.scaleWidth(384), window{3, 1, 1}))
	x = b.relu(b.conv(x, s.scaleWidth(384), window{3, 1, 1}))
	x = b.pool("MaxPool", b.relu(b.conv(x, s.scaleWidth(256), window{3, 1, 1})), window{3, 2, 0})
	x = b.relu(b.dense(b.flatten(x), s.scaleWidth(4096)))
	x = b.relu(b.dense(x, s.scaleWidth(4096)))
	return b.softmax(b.dense(x, s.Classes))
}

// vgg: Simonyan and Zisserman, 2014; depth 11, 13, 16 or 19.
func vgg(b *builder, s Size) tensor {
	blocks := map[int][]int{11: {1, 1, 2, 2, 2}, 13: {2, 2, 2, 2, 2}, 16: {2, 2, 3, 3, 3}, 19: {2, 2, 4, 4, 4}}[s.Depth]
	b.want(blocks != nil, "vgg has depth 11, 13, 16 or 19, not %d", s.Depth)
	x := s.image(b, 3)
	for i, n := range blocks {
		for range n {
			x = b.relu(b.conv(x, s.scaleWidth(64<<min(i, 3)), window{3, 1, 1}))
		}
		x = b.pool("MaxPool", x, window{2, 2, 0})
	}
	x = b.relu(b.dense(b.flatten(x), s.scaleWidth(4096)))
	x = b.relu(b.dense(x, s.scaleWidth(4096)))
	return b.softmax(b.dense(x, s.Classes))
}

// want keeps an error about the size.
func (b *builder) want(ok bool, format string, args ...any) {
	if !ok && b.err == nil {
		b.err = fmt.Errorf("%w: %s", ErrSize, fmt.Sprintf(format, args...))
	}
}

// resNet: He et al., CVPR 2016; depth 18, 34 (basic blocks), 50, 101 or 152
// (bottlenecks).
func resNet(b *builder, s Size) tensor {
	blocks := map[int][]int{18: {2, 2, 2, 2}, 34: {3, 4, 6, 3}, 50: {3, 4, 6, 3}, 101: {3, 4, 23, 3}, 152: {3, 8, 36, 3}}[s.Depth]
	b.want(blocks != nil, "resnet has depth 18, 34, 50, 101 or 152, not %d", s.Depth)
	x := b.relu(b.normalize(b.conv(s.image(b, 3), s.scaleWidth(64), window{7, 2, 3})))
	x = b.pool("MaxPool", x, window{3, 2, 1})
	for i, n := range blocks {
		for k := range n {
			stride := int64(1)
			if i > 0 && k == 0 {
				stride = 2
			}
			x = b.residual(x, s.scaleWidth(64<<i), stride, s.Depth >= 50)
		}
	}
	return b.softmax(b.dense(b.flatten(b.globalPool(x)), s.Classes))
}

func (b *builder) residual(x tensor, width, stride int64, bottleneck bool) tensor {
	out := width
	var y tensor
	if bottleneck {
		out = 4 * width
		y = b.relu(b.normalize(b.conv(x, width, window{1, 1, 0})))
		y = b.relu(b.normalize(b.conv(y, width, window{3, stride, 1})))
		y = b.normalize(b.conv(y, out, window{1, 1, 0}))
	} else {
		y = b.relu(b.normalize(b.conv(x, width, window{3, stride, 1})))
		y = b.normalize(b.conv(y, out, window{3, 1, 1}))
	}
	if stride != 1 || x.channels() != out {
		x = b.normalize(b.conv(x, out, window{1, stride, 0}))
	}
	return b.relu(b.binary("Add", y, x))
}

// googLeNet: Szegedy et al., CVPR 2015, table 1, without auxiliary outputs.
func googLeNet(b *builder, s Size) tensor {
	x := b.relu(b.conv(s.image(b, 3), s.scaleWidth(64), window{7, 2, 3}))
	x = b.pool("MaxPool", x, window{3, 2, 1})
	x = b.relu(b.conv(x, s.scaleWidth(64), window{1, 1, 0}))
	x = b.relu(b.conv(x, s.scaleWidth(192), window{3, 1, 1}))
	x = b.pool("MaxPool", x, window{3, 2, 1})
	for i, c := range [][6]int64{
		{64, 96, 128, 16, 32, 32}, {128, 128, 192, 32, 96, 64},
		{192, 96, 208, 16, 48, 64}, {160, 112, 224, 24, 64, 64}, {128, 128, 256, 24, 64, 64}, {112, 144, 288, 32, 64, 64}, {256, 160, 320, 32, 128, 128},
		{256, 160, 320, 32, 128, 128}, {384, 192, 384, 48, 128, 128},
	} {
		x = b.inception(x, s, c)
		if i == 1 || i == 6 {
			x = b.pool("MaxPool", x, window{3, 2, 1})
		}
	}
	return b.softmax(b.dense(b.flatten(b.globalPool(x)), s.Classes))
}

func (b *builder) inception(x tensor, s Size, c [6]int64) tensor {
	one := b.relu(b.conv(x, s.scaleWidth(c[0]), window{1, 1, 0}))
	three := b.relu(b.conv(b.relu(b.conv(x, s.scaleWidth(c[1]), window{1, 1, 0})), s.scaleWidth(c[2]), window{3, 1, 1}))
	five := b.relu(b.conv(b.relu(b.conv(x, s.scaleWidth(c[3]), window{1, 1, 0})), s.scaleWidth(c[4]), window{5, 1, 2}))
	pooled := b.relu(b.conv(b.pool("MaxPool", x, window{3, 1, 1}), s.scaleWidth(c[5]), window{1, 1, 0}))
	return b.concat(one, three, five, pooled)
}

// denseNet: Huang et al., CVPR 2017; depth 121, 169 or 201, growth 32.
func denseNet(b *builder, s Size) tensor {
	blocks := map[int][]int{121: {6, 12, 24, 16}, 169: {6, 12, 32, 32}, 201: {6, 12, 48, 32}}[s.Depth]
	b.want(blocks != nil, "densenet has depth 121, 169 or 201, not %d", s.Depth)
	growth := s.scaleWidth(32)
	x := b.relu(b.normalize(b.conv(s.image(b, 3), 2*growth, window{7, 2, 3})))
	x = b.pool("MaxPool", x, window{3, 2, 1})
	for i, n := range blocks {
		for range n {
			y := b.conv(b.relu(b.normalize(x)), 4*growth, window{1, 1, 0})
			x = b.concat(x, b.conv(b.relu(b.normalize(y)), growth, window{3, 1, 1}))
		}
		if i < len(blocks)-1 {
			x = b.pool("AveragePool", b.conv(b.relu(b.normalize(x)), max(1, x.channels()/2), window{1, 1, 0}), window{2, 2, 0})
		}
	}
	return b.softmax(b.dense(b.flatten(b.globalPool(b.relu(b.normalize(x)))), s.Classes))
}

// mobileNetV2: Sandler et al., CVPR 2018, table 2.
func mobileNetV2(b *builder, s Size) tensor {
	x := b.relu6(b.normalize(b.conv(s.image(b, 3), s.eighths(32), window{3, 2, 1})))
	for _, stage := range [][4]int64{{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}} {
		for k := range stage[2] {
			stride := int64(1)
			if k == 0 {
				stride = stage[3]
			}
			x = b.invertedBlock(x, block{expand: stage[0], out: s.eighths(stage[1]), window: window{3, stride, 1}, activate: b.relu6})
		}
	}
	x = b.relu6(b.normalize(b.conv(x, max(s.eighths(1280), 1280), window{1, 1, 0})))
	return b.softmax(b.dense(b.flatten(b.globalPool(x)), s.Classes))
}

// block is an inverted residual block: how many times as many channels it has
// inside, and its output's.
type block struct {
	expand, out int64
	window      window
	activate    func(tensor) tensor
}

func (b *builder) invertedBlock(x tensor, of block) tensor {
	return b.project(x, b.widenBlock(x, of), of)
}

// squeezeBlock returns a block with squeeze-and-excitation.
func (b *builder) squeezeBlock(x tensor, of block) tensor {
	y := b.widenBlock(x, of)
	z := of.activate(b.conv(b.globalPool(y), max(1, x.channels()/4), window{1, 1, 0}))
	return b.project(x, b.binary("Mul", y, b.unary("Sigmoid", b.conv(z, y.channels(), window{1, 1, 0}))), of)
}

func (b *builder) widenBlock(x tensor, of block) tensor {
	y := x
	if of.expand > 1 {
		y = of.activate(b.normalize(b.conv(x, of.expand*x.channels(), window{1, 1, 0})))
	}
	return of.activate(b.normalize(b.depthwise(y, of.window)))
}

func (b *builder) project(x, y tensor, of block) tensor {
	y = b.normalize(b.conv(y, of.out, window{1, 1, 0}))
	if of.window.stride == 1 && x.channels() == of.out {
		y = b.binary("Add", y, x)
	}
	return y
}

// efficientNet: Tan and Le, ICML 2019, table 1 (B0), scaled by width.
func efficientNet(b *builder, s Size) tensor {
	x := b.swish(b.normalize(b.conv(s.image(b, 3), s.eighths(32), window{3, 2, 1})))
	for _, stage := range [][5]int64{{1, 16, 1, 1, 3}, {6, 24, 2, 2, 3}, {6, 40, 2, 2, 5}, {6, 80, 3, 2, 3}, {6, 112, 3, 1, 5}, {6, 192, 4, 2, 5}, {6, 320, 1, 1, 3}} {
		for k := range stage[2] {
			stride := int64(1)
			if k == 0 {
				stride = stage[3]
			}
			x = b.squeezeBlock(x, block{expand: stage[0], out: s.eighths(stage[1]), window: window{stage[4], stride, stage[4] / 2}, activate: b.swish})
		}
	}
	x = b.swish(b.normalize(b.conv(x, s.eighths(1280), window{1, 1, 0})))
	return b.softmax(b.dense(b.flatten(b.globalPool(x)), s.Classes))
}

// mlp returns Depth hidden layers of 512 units on a flattened image.
func mlp(b *builder, s Size) tensor {
	x := b.flatten(s.image(b, 1))
	for range s.Depth {
		x = b.relu(b.dense(x, s.scaleWidth(512)))
	}
	return b.softmax(b.dense(x, s.Classes))
}

// lstm returns Depth layers of 256 cells (Hochreiter and Schmidhuber, 1997) over a
// sequence of Resolution steps of 128 features; the last step is classified.
func lstm(b *builder, s Size) tensor {
	features, cells := s.scaleWidth(128), s.scaleWidth(256)
	x := b.input("input", s.Resolution, s.Batch, features)
	for range s.Depth {
		inputs := []string{x.name, b.weight("lstm_w", 1, 4*cells, x.shape[2]), b.weight("lstm_r", 1, 4*cells, cells), b.weight("bias", 1, 8*cells)}
		y := b.add("LSTM", []int64{s.Resolution, 1, s.Batch, cells}, inputs, onnx.IntAttribute("hidden_size", cells))
		x = b.reshape(y, s.Resolution, s.Batch, cells)
	}
	last := b.add("Slice", []int64{1, s.Batch, cells}, []string{x.name, b.whole(s.Resolution - 1), b.whole(s.Resolution), b.whole(0)})
	return b.softmax(b.dense(b.reshape(last, s.Batch, cells), s.Classes))
}

// transformer returns Depth encoder blocks (Vaswani et al., NIPS 2017, with the
// normalization before each part) of width 256 and 4 heads over a sequence of
// Resolution tokens; their mean is classified.
func transformer(b *builder, s Size) tensor {
	const heads = 4
	width := heads * max(1, s.scaleWidth(256)/heads)
	x := b.input("input", s.Batch, s.Resolution, width)
	for range s.Depth {
		x = b.binary("Add", x, b.attention(b.layerNorm(x), heads))
		x = b.binary("Add", x, b.linear(b.gelu(b.linear(b.layerNorm(x), 4*width)), width))
	}
	x = b.layerNorm(x)
	mean := b.add("ReduceMean", []int64{s.Batch, width}, []string{x.name}, onnx.IntsAttribute("axes", 1), onnx.IntAttribute("keepdims", 0))
	return b.softmax(b.dense(mean, s.Classes))
}

func (b *builder) attention(x tensor, heads int64) tensor {
	batch := x.shape[0]
	length := x.shape[1]
	width := x.shape[2]
	split := func(t tensor, order ...int64) tensor {
		return b.transpose(b.reshape(t, batch, length, heads, width/heads), order...)
	}
	q := split(b.linear(x, width), 0, 2, 1, 3)
	k := split(b.linear(x, width), 0, 2, 3, 1)
	v := split(b.linear(x, width), 0, 2, 1, 3)
	scores := b.add("MatMul", []int64{batch, heads, length, length}, []string{q.name, k.name})
	scores = b.add("Mul", scores.shape, []string{scores.name, b.scalar(float32(1 / math.Sqrt(float64(width/heads))))})
	mixed := b.add("MatMul", []int64{batch, heads, length, width / heads}, []string{b.softmax(scores).name, v.name})
	return b.linear(b.reshape(b.transpose(mixed, 0, 2, 1, 3), batch, length, width), width)
}

// gelu returns x/2 (1 + erf(x/sqrt 2)).
func (b *builder) gelu(x tensor) tensor {
	y := b.add("Mul", x.shape, []string{x.name, b.scalar(float32(1 / math.Sqrt2))})
	y = b.unary("Erf", y)
	y = b.add("Add", y.shape, []string{y.name, b.scalar(1)})
	y = b.binary("Mul", x, y)
	return b.add("Mul", y.shape, []string{y.name, b.scalar(0.5)})
}

// operators adds no network that anyone trains: Depth times a chain of the
// operators that few families have, over Resolution rows of 128 values, to
// measure them by. It ends in classes as the others do.
func operators(b *builder, s Size) tensor {
	width := s.scaleWidth(128)
	x := b.input("input", s.Batch, s.Resolution, width)
	for range s.Depth {
		x = b.layerNorm(x)
		x = b.unary("Erf", x)
		x = b.binary("Mul", x, b.unary("Tanh", x))
		x = b.softmax(x)
		x = b.layerNorm(b.binary("Add", b.relu(x), b.unary("Sigmoid", x)))
		x = b.swish(x)
		x = b.transpose(x, 0, 2, 1)
		x = b.softmax(b.layerNorm(x))
		x = b.images(x)
		x = b.sequence(x, s, width)
	}
	mean := b.add("ReduceMean", []int64{s.Batch, width}, []string{x.name}, onnx.IntsAttribute("axes", 1), onnx.IntAttribute("keepdims", 0))
	return b.softmax(b.dense(mean, s.Classes))
}

// images treats values of shape [batch, width, resolution] as images one pixel high.
func (b *builder) images(x tensor) tensor {
	batch := x.shape[0]
	width := x.shape[1]
	length := x.shape[2]
	y := b.normalize(b.reshape(x, batch, width, 1, length))
	y = b.relu(y)
	y = b.concat(y, b.depthwise(y, window{3, 1, 1}))
	y = b.conv(y, width, window{1, 1, 0})
	y = b.binary("Mul", y, b.unary("Sigmoid", b.conv(b.globalPool(y), width, window{1, 1, 0})))
	return b.transpose(b.reshape(b.pool("MaxPool", y, window{3, 1, 1}), batch, width, length), 0, 2, 1)
}

// sequence treats values of shape [batch, resolution, width] as a sequence.
func (b *builder) sequence(x tensor, s Size, width int64) tensor {
	y := b.linear(x, width)
	scores := b.add("MatMul", []int64{s.Batch, s.Resolution, s.Resolution}, []string{y.name, b.transpose(x, 0, 2, 1).name})
	y = b.add("MatMul", x.shape, []string{b.softmax(scores).name, y.name})
	y = b.transpose(y, 1, 0, 2)
	inputs := []string{y.name, b.weight("lstm_w", 1, 4*width, width), b.weight("lstm_r", 1, 4*width, width), b.weight("bias", 1, 8*width)}
	y = b.add("LSTM", []int64{s.Resolution, 1, s.Batch, width}, inputs, onnx.IntAttribute("hidden_size", width))
	y = b.transpose(b.reshape(y, s.Resolution, s.Batch, width), 1, 0, 2)
	return b.add("Slice", y.shape, []string{y.name, b.whole(0), b.whole(s.Resolution), b.whole(1)})
}

// responses adds a chain of local response normalizations, each over as many
// channels as the convolution before it has.
func responses(b *builder, s Size) tensor {
	x := s.image(b, 3)
	for range s.Depth {
		x = b.relu(b.conv(x, s.scaleWidth(64), window{1, 1, 0}))
		x = b.add("LRN", x.shape, []string{x.name}, onnx.IntAttribute("size", 5), onnx.FloatAttribute("alpha", 1e-4), onnx.FloatAttribute("beta", 0.75))
	}
	return b.softmax(b.dense(b.flatten(b.globalPool(x)), s.Classes))
}
