package native

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// block is a window over an image of up to three dimensions: planes one behind the other.
type block struct {
	plane
	depth, outDepth int // in planes
	kd, sd, dd      int
	front           int // padding
}

// plane is a two-dimensional window over an image.
type plane struct {
	height, width       int // of the image
	outHeight, outWidth int
	kh, kw              int
	sh, sw              int
	dh, dw              int
	top, left           int // padding
}

// blockOf reads the window of a node over images of one to three dimensions; those of
// fewer have a height or depth of 1.
func blockOf(s site, kernel []int) (block, error) {
	in, out := s.in(0), s.out(0)
	if len(in) < 3 || len(in) > 5 {
		return block{}, unsupported("rank %d", len(in))
	}
	if k := s.node.Ints("kernel_shape"); k != nil {
		kernel = lengths(k)
	}
	size, outSize := triple(in[2:], 1), triple(out[2:], 1)
	k, strides, dilations, pads := triple(kernel, 1), triple(lengths(s.node.Ints("strides")), 1), triple(lengths(s.node.Ints("dilations")), 1), s.node.Ints("pads")
	p := block{
		plane: plane{height: size[1], width: size[2], outHeight: outSize[1], outWidth: outSize[2], kh: k[1], kw: k[2], sh: strides[1], sw: strides[2], dh: dilations[1], dw: dilations[2]},
		depth: size[0], outDepth: outSize[0], kd: k[0], sd: strides[0], dd: dilations[0],
	}
	if len(pads) > 0 {
		begin := triple(lengths(pads[:len(pads)/2]), 0)
		p.front, p.top, p.left = begin[0], begin[1], begin[2]
	}
	switch auto := s.node.Text("auto_pad"); auto {
	case "SAME_UPPER", "SAME_LOWER":
		total := func(size, out, kernel, stride, dilation int) int {
			n := max(0, (out-1)*stride+(kernel-1)*dilation+1-size)
			if auto == "SAME_LOWER" {
				n++
			}
			return n / 2
		}
		p.front = total(p.depth, p.outDepth, p.kd, p.sd, p.dd)
		p.top, p.left = total(p.height, p.outHeight, p.kh, p.sh, p.dh), total(p.width, p.outWidth, p.kw, p.sw, p.dw)
	case "VALID":
		p.front, p.top, p.left = 0, 0, 0
	}
	return p, nil
}

// triple returns a number for each of three dimensions, of which v has the last.
func triple(v []int, otherwise int) [3]int {
	out := [3]int{otherwise, otherwise, otherwise}
	copy(out[3-len(v):], v)
	return out
}

// size returns the number of values of an image.
func (b *block) size() int { return b.depth * b.height * b.width }

// outSize returns the number of values of the result for one channel.
func (b *block) outSize() int { return b.outDepth * b.outHeight * b.outWidth }

// planes calls f for every plane of the result and every plane of the image under its
// window.
func (b *block) planes(f func(kd, z, at int)) {
	for kd := range b.kd {
		first, last := span(kd*b.dd-b.front, b.sd, b.depth, b.outDepth)
		for z := first; z < last; z++ {
			f(kd, z, z*b.sd+kd*b.dd-b.front)
		}
	}
}

// span is the outputs whose window cell lies inside the image: those from first
// to last, where the cell starts at offset and moves by step.
func span(offset, step, size, count int) (first, last int) {
	if offset < 0 {
		first = (-offset + step - 1) / step
	}
	if offset >= size {
		return 0, 0
	}
	last = min(count, (size-1-offset)/step+1)
	return min(first, last), last
}

// conv is a convolution: each group a matrix product of its filters with the
// image's columns, or, with one channel a group, a direct sum.
func conv(s site) (kernel, error) {
	x, w, shape := s.in(0), s.in(1), s.out(0)
	if len(w) != len(x) || len(w) < 3 {
		return nil, unsupported("weights of rank %d", len(w))
	}
	p, err := blockOf(s, w[2:])
	if err != nil {
		return nil, err
	}
	groups := int(s.node.Int("group", 1))
	if groups < 1 || x[1] != groups*w[1] || shape[1]%groups != 0 {
		return nil, unsupported("%d channels in %d groups of weights %v", x[1], groups, w)
	}
	channels, filters := w[1], shape[1]/groups
	size, outSize := p.size(), p.outSize()
	depth := channels * p.kd * p.kh * p.kw
	pointwise := p.kd*p.kh*p.kw == 1 && p.sd*p.sh*p.sw == 1 && p.front == 0 && p.top == 0 && p.left == 0 && outSize == size
	return func(in, out []array, scratch *scratch) {
		for image := range x[0] {
			for g := range groups {
				src := in[0].data[(image*x[1]+g*channels)*size:][:channels*size]
				dst := out[0].data[(image*shape[1]+g*filters)*outSize:][:filters*outSize]
				weights := in[1].data[g*filters*depth:][:filters*depth]
				var bias []float32
				if s.given(2) {
					bias = in[2].data[g*filters:][:filters]
				}
				spread(dst, bias, outSize)
				switch {
				case channels == 1 && filters == 1:
					p.direct(src, weights, dst)
				case pointwise:
					scratch.product(matrix{weights, filters, depth, false}, matrix{src, depth, outSize, false}, 1, 1, dst)
				default:
					columns := scratch.get(0, depth*outSize)
					p.columns(src, columns, channels)
					scratch.product(matrix{weights, filters, depth, false}, matrix{columns, depth, outSize, false}, 1, 1, dst)
				}
			}
		}
	}, nil
}

// spread fills each filter's plane with its bias.
func spread(dst, bias []float32, n int) {
	if bias == nil {
		clear(dst)
		return
	}
	for f, b := range bias {
		for i := range dst[f*n:][:n] {
			dst[f*n+i] = b
		}
	}
}

// columns lays out, for each cell of the window, the image's values under it: a
// matrix of channels*kd*kh*kw rows and one column an output.
func (b *block) columns(src, dst []float32, channels int) {
	in, out := b.height*b.width, b.outHeight*b.outWidth
	cells := b.kh * b.kw
	n := b.outSize()
	clear(dst[:channels*b.kd*cells*n]) // planes outside of the image
	for c := range channels {
		image := src[c*b.size():][:b.size()]
		b.planes(func(kd, z, at int) {
			for cell := range cells {
				row := dst[((c*b.kd+kd)*cells+cell)*n:][:n]
				b.cell(image[at*in:][:in], row[z*out:][:out], cell/b.kw, cell%b.kw)
			}
		})
	}
}

// cell copies the image's values under one cell of the window to a row of zeros.
func (p plane) cell(image, dst []float32, kh, kw int) {
	firstY, lastY := span(kh*p.dh-p.top, p.sh, p.height, p.outHeight)
	firstX, lastX := span(kw*p.dw-p.left, p.sw, p.width, p.outWidth)
	if firstX == lastX {
		return // the cell lies outside at every output
	}
	for y := firstY; y < lastY; y++ {
		from := image[(y*p.sh+kh*p.dh-p.top)*p.width:][:p.width]
		to := dst[y*p.outWidth:][:p.outWidth]
		at := firstX*p.sw + kw*p.dw - p.left
		if p.sw == 1 {
			copy(to[firstX:lastX], from[at:])
			continue
		}
		for x := firstX; x < lastX; x++ {
			to[x] = from[at]
			at += p.sw
		}
	}
}

// direct adds one channel's convolution.
func (b *block) direct(image, weights, dst []float32) {
	in, out, cells := b.height*b.width, b.outHeight*b.outWidth, b.kh*b.kw
	b.planes(func(kd, z, at int) {
		b.plane.direct(image[at*in:][:in], weights[kd*cells:][:cells], dst[z*out:][:out])
	})
}

// direct adds one plane's convolution.
func (p plane) direct(image, weights, dst []float32) {
	for kh := range p.kh {
		firstY, lastY := span(kh*p.dh-p.top, p.sh, p.height, p.outHeight)
		for kw := range p.kw {
			firstX, lastX := span(kw*p.dw-p.left, p.sw, p.width, p.outWidth)
			w := weights[kh*p.kw+kw]
			for y := firstY; y < lastY && firstX < lastX; y++ {
				from := image[(y*p.sh+kh*p.dh-p.top)*p.width:][:p.width]
				to := dst[y*p.outWidth:][:p.outWidth]
				at := firstX*p.sw + kw*p.dw - p.left
				blas32.Axpy(w, blas32.Vector{N: lastX - firstX, Inc: p.sw, Data: from[at:]}, blas32.Vector{N: lastX - firstX, Inc: 1, Data: to[firstX:]})
			}
		}
	}
}

// pooling is the maximum or the mean under a window; the mean leaves padding
// out unless the node includes it.
func pooling(s site) (kernel, error) {
	p, err := blockOf(s, nil)
	if err != nil {
		return nil, err
	}
	if len(s.node.Outputs) > 1 {
		return nil, unsupported("indices as an output")
	}
	maximum := s.node.Op == "MaxPool"
	padded := s.node.Int("count_include_pad", 0) == 1
	if padded && s.node.Int("ceil_mode", 0) == 1 {
		return nil, unsupported("ceil_mode with padding counted")
	}
	size, outSize := p.size(), p.outSize()
	return func(in, out []array, scratch *scratch) {
		counts := scratch.get(0, outSize)
		for c := range len(in[0].data) / size {
			image, dst := in[0].data[c*size:][:size], out[0].data[c*outSize:][:outSize]
			if maximum {
				setAll(dst, float32(math.Inf(-1)))
			} else {
				clear(dst)
				clear(counts)
			}
			p.under(func(i, at int) {
				v := image[at]
				if maximum {
					dst[i] = max(dst[i], v)
				} else {
					dst[i] += v
					counts[i]++
				}
			})
			if !maximum {
				for i := range dst {
					if padded {
						counts[i] = float32(p.kd * p.kh * p.kw)
					}
					dst[i] /= counts[i]
				}
			}
		}
	}, nil
}

// under calls f for every output i and every value of the image under its window.
func (b *block) under(f func(i, at int)) {
	in, out := b.height*b.width, b.outHeight*b.outWidth
	b.planes(func(_, z, plane int) {
		b.plane.under(func(i, at int) { f(z*out+i, plane*in+at) })
	})
}

// under calls f for every output i and every value of the plane under its window.
func (p plane) under(f func(i, at int)) {
	for kh := range p.kh {
		firstY, lastY := span(kh*p.dh-p.top, p.sh, p.height, p.outHeight)
		for kw := range p.kw {
			firstX, lastX := span(kw*p.dw-p.left, p.sw, p.width, p.outWidth)
			for y := firstY; y < lastY; y++ {
				row := (y*p.sh + kh*p.dh - p.top) * p.width
				for x := firstX; x < lastX; x++ {
					f(y*p.outWidth+x, row+x*p.sw+kw*p.dw-p.left)
				}
			}
		}
	}
}

func setAll(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}

// globally reduces each channel of an image to one value.
func globally(f fold) func(site) (kernel, error) {
	return func(s site) (kernel, error) {
		n := volume(s.in(0)[2:])
		return func(in, out []array, _ *scratch) {
			for c := range out[0].data {
				sum := f.start
				for _, v := range in[0].data[c*n:][:n] {
					sum = f.add(sum, float64(v))
				}
				out[0].data[c] = float32(f.end(sum, n))
			}
		}, nil
	}
}
