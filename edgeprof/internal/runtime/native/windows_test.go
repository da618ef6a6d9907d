package native

import (
	"testing"

	"pgregory.net/rapid"
)

// TestColumns: the matrix of columns holds, for each output and cell of the
// window, the image's value there, however small the image; and the direct sum
// is the product of one channel's columns.
func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
		p := block{plane: plane{
			height: draw("height", 1, 6), width: draw("width", 1, 6), kh: draw("kh", 1, 5), kw: draw("kw", 1, 5),
			sh: draw("sh", 1, 3), sw: draw("sw", 1, 3), dh: draw("dh", 1, 2), dw: draw("dw", 1, 2),
			top: draw("top", 0, 3), left: draw("left", 0, 3), outHeight: draw("out height", 1, 6), outWidth: draw("out width", 1, 6),
		}, depth: draw("depth", 1, 4), outDepth: draw("out depth", 1, 4), kd: draw("kd", 1, 3), sd: draw("sd", 1, 2), dd: draw("dd", 1, 2), front: draw("front", 0, 2)}
		image := make([]float32, p.size())
		for i := range image {
			image[i] = float32(i + 1)
		}
		weights := make([]float32, p.kd*p.kh*p.kw)
		for i := range weights {
			weights[i] = float32(i%3 + 1)
		}
		n, plane := p.outSize(), p.outHeight*p.outWidth
		columns, direct, want := make([]float32, len(weights)*n), make([]float32, n), make([]float32, n)
		p.columns(image, columns, 1)
		p.direct(image, weights, direct)
		for cell, w := range weights {
			for o := range n {
				z := o/plane*p.sd - p.front + cell/(p.kh*p.kw)*p.dd
				y := o%plane/p.outWidth*p.sh - p.top + cell%(p.kh*p.kw)/p.kw*p.dh
				x := o%p.outWidth*p.sw - p.left + cell%p.kw*p.dw
				value := float32(0)
				if z >= 0 && z < p.depth && y >= 0 && y < p.height && x >= 0 && x < p.width {
					value = image[(z*p.height+y)*p.width+x]
				}
				if got := columns[cell*n+o]; got != value {
					t.Fatalf("cell %d, output %d: %v, want %v", cell, o, got, value)
				}
				want[o] += w * value
			}
		}
		for o := range want {
			if direct[o] != want[o] {
				t.Fatalf("output %d: %v, want %v", o, direct[o], want[o])
			}
		}
	})
}
