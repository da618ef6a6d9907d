package jobs

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func idxFile(sizes []uint32, body []byte) []byte {
	b := []byte{0, 0, 8, byte(len(sizes))}
	for _, n := range sizes {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return append(b, body...)
}

// mnist writes n images of 28x28 whose every pixel is the class, of classes in
// turn; the training images are gzipped.
func mnist(t *testing.T, dir string, n int) {
	t.Helper()
	var images, labels []byte
	for i := range n {
		class := byte(i % classes)
		images = append(images, bytes.Repeat([]byte{class}, 28*28)...)
		labels = append(labels, class)
	}
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	if _, err := zip.Write(idxFile([]uint32{uint32(n), 28, 28}, images)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "train-images-idx3-ubyte.gz", zipped.Bytes())
	write(t, dir, "train-labels-idx1-ubyte", idxFile([]uint32{uint32(n)}, labels))
	write(t, dir, "t10k-images-idx3-ubyte", idxFile([]uint32{uint32(n), 28, 28}, images))
	write(t, dir, "t10k-labels-idx1-ubyte", idxFile([]uint32{uint32(n)}, labels))
}

func write(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMNIST(t *testing.T) {
	dir := t.TempDir()
	mnist(t, dir, 12)
	known, unseen, err := jobs()["lenet"].load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(known.class) != 12 || len(unseen.class) != 12 || known.class[11] != 1 {
		t.Fatalf("%d and %d images, classes %v", len(known.class), len(unseen.class), known.class)
	}
	if got, want := known.pixels[3*28*28], float32(3)/127.5-1; got != want {
		t.Errorf("a pixel of the fourth image is %v, want %v", got, want)
	}
	out, _ := runTiny(t, "lenet", func(o *Options) { o.Data = dir })
	if !strings.Contains(out, "held-out accuracy ") {
		t.Errorf("printed %q", out)
	}
	if _, _, err := jobs()["googlenet"].load(dir); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "data_batch_1.bin") {
		t.Errorf("MNIST for a job of colour images: %v", err)
	}
	for name, c := range map[string]struct {
		file string
		body []byte
		want string
	}{
		"short":          {"t10k-images-idx3-ubyte", idxFile([]uint32{12, 28, 28}, make([]byte, 100)), "not a complete IDX file with dimensions [28 28]"},
		"long":           {"t10k-images-idx3-ubyte", idxFile([]uint32{1, 2, 2}, make([]byte, 100)), "not a complete IDX file with dimensions [28 28]"},
		"other kind":     {"t10k-labels-idx1-ubyte", []byte("no IDX"), "not a complete IDX file with dimensions []"},
		"other count":    {"t10k-labels-idx1-ubyte", idxFile([]uint32{3}, make([]byte, 3)), "12 images and 3 labels"},
		"eleventh class": {"t10k-labels-idx1-ubyte", idxFile([]uint32{12}, bytes.Repeat([]byte{10}, 12)), "image 1: wrong data set for this job: class 10, want one below 10"},
		"other size":     {"t10k-images-idx3-ubyte", idxFile([]uint32{12, 2, 2}, make([]byte, 48)), "not a complete IDX file with dimensions [28 28]"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			mnist(t, dir, 12)
			write(t, dir, c.file, c.body)
			if _, _, err := jobs()["lenet"].load(dir); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestCIFAR(t *testing.T) {
	dir := t.TempDir()
	record := append([]byte{7}, bytes.Repeat([]byte{0}, 1024)...)
	record = append(append(record, bytes.Repeat([]byte{255}, 1024)...), bytes.Repeat([]byte{51}, 1024)...)
	for _, name := range []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"} {
		write(t, dir, name, bytes.Repeat(record, 2))
	}
	known, unseen, err := jobs()["googlenet"].load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(known.class) != 10 || len(unseen.class) != 2 || known.class[9] != 7 {
		t.Fatalf("%d and %d images, classes %v", len(known.class), len(unseen.class), known.class)
	}
	if got := known.pixels[3*5 : 3*5+3]; got[0] != -1 || got[1] != 1 || got[2] != float32(51)/127.5-1 {
		t.Errorf("a pixel is %v", got)
	}
	write(t, dir, "test_batch.bin", record[:100])
	if _, _, err := jobs()["googlenet"].load(dir); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), "100 bytes are not a multiple of the record size 3073") {
		t.Errorf("a torn file: %v", err)
	}
}
