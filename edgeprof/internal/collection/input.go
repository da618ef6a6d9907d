package collection

import (
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // decoded by image.Decode
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/shared/file"
)

// ErrImage is returned for images that cannot be a model's input.
var ErrImage = errors.New("unusable image")

// RandomInputs returns random values in [0, 1) of the given shapes, the same each time.
func RandomInputs(shapes map[string][]int64) map[string]runtime.Tensor {
	inputs := map[string]runtime.Tensor{}
	for name, shape := range shapes {
		rng := rand.New(rand.NewPCG(1, uint64(len(name))))
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		t := runtime.Tensor{Shape: shape, Data: make([]float32, n)}
		for i := range t.Data {
			t.Data[i] = rng.Float32()
		}
		inputs[name] = t
	}
	return inputs
}

// ListImages lists the .jpg, .jpeg, .png and .gif files in a directory, in order.
// The error matches [ErrImage] when there are none.
func ListImages(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if slices.Contains([]string{".jpg", ".jpeg", ".png", ".gif"}, strings.ToLower(filepath.Ext(e.Name()))) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: no .jpg, .jpeg, .png or .gif file in %s", ErrImage, dir)
	}
	return paths, nil
}

// loadImage fills a model's one image input, the nearest pixel for each place
// and values in [0, 1], and returns the file's size in bytes.
func loadImage(path string, inputs map[string]runtime.Tensor) (size int64, err error) {
	in, err := file.Open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	picture, _, err := image.Decode(in)
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrImage, path, err)
	}
	if len(inputs) != 1 {
		return 0, fmt.Errorf("%w: the model has %d inputs, images need exactly one", ErrImage, len(inputs))
	}
	for name, t := range inputs {
		if len(t.Shape) != 4 || t.Shape[1] != 3 && t.Shape[1] != 1 {
			return 0, fmt.Errorf("%w: input %q has shape %v, want [N, 3 or 1, height, width]", ErrImage, name, t.Shape)
		}
		fillImage(t, picture)
	}
	return info.Size(), nil
}

func fillImage(t runtime.Tensor, picture image.Image) {
	channels := int(t.Shape[1])
	height := int(t.Shape[2])
	width := int(t.Shape[3])
	bounds := picture.Bounds()
	for n := range int(t.Shape[0]) {
		for y := range height {
			for x := range width {
				r, g, b, _ := picture.At(bounds.Min.X+x*bounds.Dx()/width, bounds.Min.Y+y*bounds.Dy()/height).RGBA()
				values := [3]uint32{r, g, b}
				if channels == 1 {
					values[0] = (r + g + b) / 3
				}
				for c := range channels {
					t.Data[((n*channels+c)*height+y)*width+x] = float32(values[c]) / 0xffff
				}
			}
		}
	}
}
