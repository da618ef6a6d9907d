package jobs

import "math/rand/v2"

// classes is the number of kinds of image: a guess is right once in ten.
const classes = 10

// coarse is the side of the grid of random levels that a class is made of.
const coarse = 7

// The noise of a pixel, in units of the deviation of a class's own levels, and
// how far an image may be moved each way, in pixels.
const (
	noise = 1.5
	moved = 2
)

// images draws pictures of ten classes. A class is a smooth random pattern; a picture of it is
// the pattern moved at random, with noise stronger than itself. No two are alike, and a
// held-out one must be recognised.
type images struct {
	side, channels int
	patterns       [classes][]float32 // (side+2·moved)² · channels
	rng            *rand.Rand
}

func newImages(side, channels int, seed uint64) *images {
	im := &images{side: side, channels: channels, rng: rand.New(rand.NewPCG(seed, 0x696d61676573))}
	for c := range im.patterns {
		im.patterns[c] = im.pattern()
	}
	return im
}

// pattern returns a grid of random levels, smoothed to the size of an image.
func (im *images) pattern() []float32 {
	levels := make([]float32, (coarse+1)*(coarse+1)*im.channels)
	for i := range levels {
		levels[i] = float32(im.rng.NormFloat64())
	}
	side := im.side + 2*moved
	out := make([]float32, 0, side*side*im.channels)
	for y := range side {
		for x := range side {
			for c := range im.channels {
				out = append(out, im.level(levels, float32(y*coarse)/float32(side), float32(x*coarse)/float32(side), c))
			}
		}
	}
	return out
}

// level returns the level at (y, x) of the grid, between its four neighbours.
func (im *images) level(levels []float32, y, x float32, c int) float32 {
	at := func(y, x int) float32 { return levels[(y*(coarse+1)+x)*im.channels+c] }
	y0, x0 := int(y), int(x)
	fy, fx := y-float32(y0), x-float32(x0)
	top := at(y0, x0)*(1-fx) + at(y0, x0+1)*fx
	low := at(y0+1, x0)*(1-fx) + at(y0+1, x0+1)*fx
	return top*(1-fy) + low*fy
}

// set is images with their classes.
type set struct {
	size   int // numbers an image
	pixels []float32
	class  []int32
}

// draw makes n pictures of classes in turn.
func (im *images) draw(n int) set {
	s := set{size: im.side * im.side * im.channels, class: make([]int32, n)}
	s.pixels = make([]float32, 0, n*s.size)
	side := im.side + 2*moved
	for i := range n {
		s.class[i] = int32(i % classes)
		pattern := im.patterns[i%classes]
		dy, dx := im.rng.IntN(2*moved+1), im.rng.IntN(2*moved+1)
		for y := range im.side {
			row := pattern[((y+dy)*side+dx)*im.channels:]
			for _, level := range row[:im.side*im.channels] {
				s.pixels = append(s.pixels, level+noise*float32(im.rng.NormFloat64()))
			}
		}
	}
	return s
}

// pick copies the named images.
func (s set) pick(which []int) (pixels []float32, class []int32) {
	pixels, class = make([]float32, 0, len(which)*s.size), make([]int32, len(which))
	for i, w := range which {
		pixels = append(pixels, s.pixels[w*s.size:(w+1)*s.size]...)
		class[i] = s.class[w]
	}
	return pixels, class
}
