package jobs

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ErrData is returned for files that hold no images of the job's size.
var ErrData = errors.New("wrong data set for this job")

// load reads published data sets out of a directory: gray images of 28x28 in MNIST's
// IDX files (Y. LeCun, C. Cortes and C. Burges), which may be gzipped, or colour
// images of 32x32 in CIFAR-10's binary version (A. Krizhevsky).
func (j job) load(dir string) (known, unseen set, err error) {
	if j.channels == 1 {
		if known, err = idx(dir, "train", j.side); err == nil {
			unseen, err = idx(dir, "t10k", j.side)
		}
	} else if known, err = cifar(dir, "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"); err == nil {
		unseen, err = cifar(dir, "test_batch.bin")
	}
	return known, unseen, err
}

// idx reads the images and labels of one part of MNIST.
func idx(dir, part string, side int) (set, error) {
	images, name, err := bytesOf(filepath.Join(dir, part+"-images-idx3-ubyte"), side, side)
	if err != nil {
		return set{}, err
	}
	class, _, err := bytesOf(filepath.Join(dir, part+"-labels-idx1-ubyte"))
	if err != nil {
		return set{}, err
	}
	s := set{size: side * side}
	if len(images) != s.size*len(class) {
		return set{}, fmt.Errorf("%s: %w: %d images and %d labels", name, ErrData, len(images)/s.size, len(class))
	}
	for i, c := range class {
		if err := s.add(images[i*s.size:(i+1)*s.size], c); err != nil {
			return set{}, fmt.Errorf("%s: image %d: %w", name, i+1, err)
		}
	}
	return s, nil
}

// bytesOf reads an IDX file of things of some dimensions: two zeros, the type 8 of
// unsigned bytes, the number of dimensions, how many things there are and the
// dimensions, each as four bytes, the highest first.
func bytesOf(path string, dims ...int) (body []byte, name string, err error) {
	b, name, err := content(path)
	if err != nil {
		return nil, name, err
	}
	size := 1
	head := append([]byte{0, 0, 8, byte(len(dims) + 1)}, b[min(4, len(b)):min(8, len(b))]...)
	for _, n := range dims {
		head, size = binary.BigEndian.AppendUint32(head, uint32(n)), size*n
	}
	body, found := bytes.CutPrefix(b, head)
	if !found || len(head) < 8 || len(body) != size*int(binary.BigEndian.Uint32(head[4:])) {
		return nil, name, fmt.Errorf("%s: %w: not a complete IDX file with dimensions %v", name, ErrData, dims)
	}
	return body, name, nil
}

// cifar reads records of a label and the red, green and blue levels of an image.
func cifar(dir string, names ...string) (set, error) {
	const plane = 32 * 32
	s := set{size: 3 * plane}
	pixels := make([]byte, s.size)
	for _, name := range names {
		b, path, err := content(filepath.Join(dir, name))
		if err != nil {
			return set{}, err
		}
		if len(b) == 0 || len(b)%(1+s.size) != 0 {
			return set{}, fmt.Errorf("%s: %w: %d bytes are not a multiple of the record size %d", path, ErrData, len(b), 1+s.size)
		}
		for record := range slices.Chunk(b, 1+s.size) {
			for i := range plane {
				for c := range 3 { // colours of a pixel stand together here
					pixels[3*i+c] = record[1+c*plane+i]
				}
			}
			if err := s.add(pixels, record[0]); err != nil {
				return set{}, fmt.Errorf("%s: image %d: %w", path, len(s.class)+1, err)
			}
		}
	}
	return s, nil
}

// add takes an image of bytes, black at -1 and white at 1.
func (s *set) add(pixels []byte, class byte) error {
	if class >= classes {
		return fmt.Errorf("%w: class %d, want one below %d", ErrData, class, classes)
	}
	for _, p := range pixels {
		s.pixels = append(s.pixels, float32(p)/127.5-1)
	}
	s.class = append(s.class, int32(class))
	return nil
}

// content reads a file, or its gzipped form where that is there instead.
func content(path string) (b []byte, name string, err error) {
	if b, err = os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		return b, path, err
	}
	packed, zipErr := os.ReadFile(path + ".gz")
	if zipErr != nil {
		return nil, path, err // of the plain one
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		b, err = io.ReadAll(zip)
	}
	if err != nil {
		return nil, path, fmt.Errorf("%s.gz: %w", path, err)
	}
	return b, path + ".gz", nil
}
