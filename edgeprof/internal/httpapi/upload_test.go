package httpapi

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// A model that comes byte by byte is the model of the file.
func TestStream(t *testing.T) {
	file := lenet(t)
	want, err := onnx.Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]io.Reader{"at once": bytes.NewReader(file), "byte by byte": iotest.OneByteReader(bytes.NewReader(file)), "in halves": iotest.HalfReader(bytes.NewReader(file))} {
		got, err := stream(r, int64(len(file)), 1<<20)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// cut in a field at the end that a reader steps over
	long := append(bytes.Clone(file), append([]byte{15<<3 | 2, 0xa0, 0x8d, 0x06}, make([]byte, 100_000)...)...)
	if _, err := stream(bytes.NewReader(long), int64(len(long)), 1<<20); err != nil {
		t.Error(err)
	}
	if _, err := stream(bytes.NewReader(long[:len(long)-1]), int64(len(long)), 1<<20); !errors.Is(err, errBroken) {
		t.Errorf("%v, want %v", err, errBroken)
	}
	broken := errors.New("the line is cut")
	if _, err := stream(io.MultiReader(bytes.NewReader(file[:len(file)/2]), iotest.ErrReader(broken)), int64(len(file)), 1<<20); !errors.Is(err, broken) {
		t.Errorf("%v, want the reader's error", err)
	}
}
