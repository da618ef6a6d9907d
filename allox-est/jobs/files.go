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
var ErrData = errors.New("not the images that the job learns")

// load reads published data sets out of a folder: gray images of 28x28 in MNIST's
// IDX files (Y. LeCun, C. Cortes and C. Burges), which may be gzipped, or colour
// images of 32x32 in CIFAR-10's binary version (A. Krizhevsky).
func (j job) load(dir string) (known, unseen set, err error) {
	if j.channels == 1 {
		if known, err = idx(dir, "train"); err == nil {
			unseen, err = idx(dir, "t10k")
		}
	} else {
		if known, err = cifar(dir, "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"); err == nil {
			unseen, err = cifar(dir, "test_batch.bin")
		}
	}
	if err != nil {
		return known, unseen, err
	}
	for _, s := range []set{known, unseen} {
		if want := j.side * j.side * j.channels; s.size != want {
			return known, unseen, fmt.Errorf("%s: %w: images of %d numbers, want %d", dir, ErrData, s.size, want)
		}
	}
	return known, unseen, nil
}

// idx reads the images and labels of one part of MNIST.
func idx(dir, part string) (set, error) {
	images, name, err := content(filepath.Join(dir, part+"-images-idx3-ubyte"))
	if err != nil {
		return set{}, err
	}
	labels, labelName, err := content(filepath.Join(dir, part+"-labels-idx1-ubyte"))
	if err != nil {
		return set{}, err
	}
	head, body, err := header(images, name, 3)
	if err != nil {
		return set{}, err
	}
	count, class, err := header(labels, labelName, 1)
	if err != nil {
		return set{}, err
	}
	if head[0] != count[0] {
		return set{}, fmt.Errorf("%s: %w: %d images and %d labels", name, ErrData, head[0], count[0])
	}
	s := set{size: head[1] * head[2]}
	for i, c := range class {
		if err := s.add(body[i*s.size:(i+1)*s.size], c); err != nil {
			return set{}, fmt.Errorf("%s: image %d: %w", labelName, i+1, err)
		}
	}
	return s, nil
}

// header reads the sizes of an IDX file of unsigned bytes: two zeros, the type 8,
// the number of dimensions, and each as four bytes, the highest first.
func header(b []byte, name string, dims int) (sizes []int, body []byte, err error) {
	if start := []byte{0, 0, 8, byte(dims)}; !bytes.HasPrefix(b, start) || len(b) < 4+4*dims {
		return nil, nil, fmt.Errorf("%s: %w: no IDX file of %d dimensions", name, ErrData, dims)
	}
	want := 1
	for i := range dims {
		n := int(binary.BigEndian.Uint32(b[4+4*i:]))
		if n < 1 || want > len(b)/n {
			return nil, nil, fmt.Errorf("%s: %w: %d bytes are too few", name, ErrData, len(b))
		}
		sizes, want = append(sizes, n), want*n
	}
	if body = b[4+4*dims:]; len(body) != want {
		return nil, nil, fmt.Errorf("%s: %w: %d bytes behind the header, want %d", name, ErrData, len(body), want)
	}
	return sizes, body, nil
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
			return set{}, fmt.Errorf("%s: %w: %d bytes are no records of %d", path, ErrData, len(b), 1+s.size)
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
		return fmt.Errorf("%w: class %d of %d", ErrData, class, classes)
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
