package synth

import (
	"math"
	"math/rand/v2"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// chain builds a chain of operators, which is not a network that anyone trains: operators
// follow one another as they are drawn, over the shapes that they have in networks. A machine
// can be measured by them without any knowledge of a family. The size alone decides what is
// drawn.
type chain struct {
	*builder
	*rand.Rand
	width float64
}

func (b *builder) chain(s Size) chain {
	seed := math.Float64bits(s.Width) ^ uint64(s.Depth)<<20 ^ uint64(s.Resolution)
	return chain{b, rand.New(rand.NewPCG(seed, 1)), s.Width}
}

// Bounds of one drawn operator of width 1.
const (
	mostMACs    = 2.5e8
	mostWeights = 1 << 23
)

// chance reports true with probability p.
func (c chain) chance(p float64) bool { return c.Float64() < p }

// between draws a number whose logarithm is uniform.
func (c chain) between(low, high float64) float64 {
	return low * math.Exp(c.Float64()*math.Log(high/low))
}

// units draws a width: half are multiples of 16, a quarter of 8. Each unit costs
// the given multiply-accumulates and weights, which bound how many there are.
func (c chain) units(low, high float64, macs, weights int64) int64 {
	high = min(high*c.width, mostMACs*c.width*c.width/float64(macs), mostWeights*c.width/float64(weights))
	n := int64(c.between(low, max(low, high)))
	switch multiple := []int64{16, 16, 8, 1}[c.IntN(4)]; {
	case n >= multiple:
		return n / multiple * multiple
	default:
		return n
	}
}

// imageChain returns Depth drawn operators over images.
func imageChain(b *builder, s Size) tensor {
	c := b.chain(s)
	shrink := math.Log2(max(1, float64(s.Resolution)/3)) / float64(max(1, s.Depth))
	x := s.image(b, 3)
	for range s.Depth {
		stride := int64(1)
		if x.shape[2] >= 4 && c.chance(shrink) {
			stride = 2
		}
		switch draw := c.Float64(); {
		case draw < 0.30:
			x = c.convolution(x, 1, stride)
		case draw < 0.57:
			x = c.convolution(x, 3, stride)
		case draw < 0.65:
			x = c.convolution(x, []int64{5, 5, 7, 11}[c.IntN(4)], stride)
		case draw < 0.77:
			k := []int64{3, 3, 5}[c.IntN(3)]
			x = c.finish(b.depthwise(x, window{k, stride, k / 2}))
		case draw < 0.84:
			k := 2 + c.Int64N(2)
			if x.shape[2] >= k {
				x = b.pool([]string{"MaxPool", "MaxPool", "AveragePool"}[c.IntN(3)], x, window{k, stride, k / 3})
			}
		case draw < 0.89:
			x = c.activation(b.normalize(x))
		case draw < 0.94:
			x = b.concat(x, c.convolution(x, []int64{1, 3}[c.IntN(2)], 1))
		default:
			z := b.relu(b.conv(b.globalPool(x), c.units(4, 64, x.channels(), x.channels()), window{1, 1, 0}))
			x = b.binary("Mul", x, b.unary("Sigmoid", b.conv(z, x.channels(), window{1, 1, 0})))
		}
	}
	return b.softmax(b.dense(b.flatten(b.globalPool(x)), s.Classes))
}

// convolution has a drawn number of filters and what may follow it. A third of
// those that keep the shape are added to what they started from.
func (c chain) convolution(x tensor, kernel, stride int64) tensor {
	w := window{kernel, stride, kernel / 2}
	weights := x.channels() * kernel * kernel
	macs := weights * w.over(x.shape[2]) * w.over(x.shape[3])
	if stride == 1 && c.chance(0.3) && x.channels()*macs <= int64(mostMACs*c.width*c.width) {
		y := c.normalization(c.conv(x, x.channels(), w))
		return c.activation(c.binary("Add", y, x))
	}
	return c.finish(c.conv(x, c.units(8, 1024, macs, weights), w))
}

func (c chain) finish(x tensor) tensor { return c.activation(c.normalization(x)) }

func (c chain) normalization(x tensor) tensor {
	if c.chance(0.6) {
		return c.normalize(x)
	}
	return x
}

func (c chain) activation(x tensor) tensor {
	switch draw := c.Float64(); {
	case draw < 0.45:
		return c.relu(x)
	case draw < 0.6:
		return c.relu6(x)
	case draw < 0.8:
		return c.swish(x)
	}
	return x
}

// vectorChain returns Depth drawn layers of one vector.
func vectorChain(b *builder, s Size) tensor {
	c := b.chain(s)
	x := b.flatten(s.image(b, 1))
	for range s.Depth {
		x = b.dense(x, c.units(64*c.width, 4096, 1, x.shape[1]))
		if c.chance(0.7) {
			x = b.relu(x)
		}
	}
	return b.softmax(b.dense(x, s.Classes))
}

// sequenceChain returns Depth drawn operators over Resolution rows.
func sequenceChain(b *builder, s Size) tensor {
	c := b.chain(s)
	x := b.input("input", s.Batch, s.Resolution, c.units(32, 512, 1, 1))
	for range s.Depth {
		width := x.shape[2]
		switch draw := c.Float64(); {
		case draw < 0.35:
			y := b.linear(x, c.units(32, 2048, width*s.Resolution, width))
			switch c.IntN(4) {
			case 0:
				y = b.relu(y)
			case 1:
				y = b.gelu(y)
			case 2:
				y = b.unary("Tanh", y)
			}
			x = y
		case draw < 0.5:
			x = b.layerNorm(x)
		case draw < 0.56:
			x = b.softmax(x)
		case draw < 0.62:
			x = b.unary("Erf", x)
		case draw < 0.70:
			x = b.layerNorm(b.binary("Add", x, b.linear(x, width)))
		case draw < 0.76:
			x = b.swish(x)
		case draw < 0.9:
			x = c.mixRows(x)
		default:
			x = c.recurrence(x, c.units(32, 512, width*s.Resolution, width))
		}
	}
	mean := b.add("ReduceMean", []int64{s.Batch, x.shape[2]}, []string{x.name}, onnx.IntsAttribute("axes", 1), onnx.IntAttribute("keepdims", 0))
	return b.softmax(b.dense(mean, s.Classes))
}

// mixRows has the rows weigh one another, in a drawn number of groups.
func (c chain) mixRows(x tensor) tensor {
	batch := x.shape[0]
	length := x.shape[1]
	width := x.shape[2]
	groups := int64(1) << c.IntN(4)
	if width%groups != 0 {
		groups = 1
	}
	parts := c.reshape(x, batch, length, groups, width/groups)
	rows, columns := c.transpose(parts, 0, 2, 1, 3), c.transpose(parts, 0, 2, 3, 1)
	scores := c.add("MatMul", []int64{batch, groups, length, length}, []string{rows.name, columns.name})
	y := c.add("MatMul", rows.shape, []string{c.softmax(scores).name, rows.name})
	return c.reshape(c.transpose(y, 0, 2, 1, 3), batch, length, width)
}

// recurrence runs an LSTM along the rows.
func (c chain) recurrence(x tensor, cells int64) tensor {
	batch := x.shape[0]
	length := x.shape[1]
	width := x.shape[2]
	y := c.transpose(x, 1, 0, 2)
	inputs := []string{y.name, c.weight("lstm_w", 1, 4*cells, width), c.weight("lstm_r", 1, 4*cells, cells), c.weight("bias", 1, 8*cells)}
	y = c.add("LSTM", []int64{length, 1, batch, cells}, inputs, onnx.IntAttribute("hidden_size", cells))
	return c.transpose(c.reshape(y, length, batch, cells), 1, 0, 2)
}
