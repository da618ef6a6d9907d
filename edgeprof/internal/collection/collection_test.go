package collection

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/dataset"
)

func TestUndisturbed(t *testing.T) {
	for _, tt := range []struct {
		times []float64
		want  float64
	}{{[]float64{3}, 3}, {[]float64{5, 1}, 1}, {[]float64{100, 1, 3}, 2}, {[]float64{9, 0, 4, 4, 5, 1000}, 8. / 3}} {
		if got := measurement.TrimmedMean(tt.times); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.times, got, tt.want)
		}
	}
}

// fake is a session whose inferences take a second more each time.
type fake struct {
	times  *int
	broken int // the inference that fails
}

func (f fake) Inputs() map[string][]int64 { return map[string][]int64{"input": {1, 1, 28, 28}} }
func (f fake) Close() error               { return nil }

var errBroken = errors.New("killed")

func (f fake) Time(_ context.Context, _ map[string]runtime.Tensor, runs int) (runtime.Timing, error) {
	out := make([]float64, runs)
	for i := range out {
		if *f.times++; *f.times == f.broken {
			return runtime.Timing{}, errBroken
		}
		out[i] = float64(*f.times)
	}
	return runtime.Timing{Seconds: out}, nil
}

func (f fake) Profile(_ context.Context, _ map[string]runtime.Tensor, runs int) ([]runtime.Profile, error) {
	return make([]runtime.Profile, runs), nil
}

func host() device.Local {
	return device.Local{Host: "h", Root: fstest.MapFS{
		"proc/stat":    {Data: []byte("cpu  1 0 1 8 0 0 0 0 0 0\ncpu0 1\ncpu1 1\n")},
		"proc/loadavg": {Data: []byte("0.42 1 2 1/2 3\n")},
	}}
}

func lenet(t *testing.T, dir string) string {
	t.Helper()
	m, err := synth.New("lenet", synth.Size{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "lenet.onnx")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(onnx.Write(file, m, synth.RandomWeights(1)), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// A run that breaks off goes on where it stopped, also after a line that was
// only half written; what is done is not done again.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	times, opened := 0, 0
	f := fake{times: &times, broken: 6}
	c := Collector{
		Dir: dir, Host: host(), Clock: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC) },
		Open: func(context.Context, Job) (runtime.Session, error) { opened++; return f, nil },
	}
	job := Job{Model: lenet(t, dir), Setting: measurement.Setting{Device: "desktop", Threads: 1}, Iterations: 5, Warmup: 1, Profiles: 2}
	if _, err := c.Collect(t.Context(), job); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "lenet.onnx-desktop.csv")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole, "2,desktop,0,"...), 0o644); err != nil {
		t.Fatal(err)
	}
	f.broken = 0
	s, err := c.Collect(t.Context(), job)
	if err != nil || s.Rows != 5 || s.Resumed != 3 || opened != 2 {
		t.Fatalf("%+v, %v, opened %d times", s, err, opened)
	}
	again, err := c.Collect(t.Context(), job)
	if err != nil || again.Rows != 5 || again.Resumed != 5 || opened != 2 {
		t.Fatalf("a third time: %+v, %v, opened %d times", again, err, opened)
	}
	d, err := measurement.ReadDir(t.Context(), dir)
	if err != nil || len(d.Rows) != 5 || len(d.Diagnostics) > 0 {
		t.Fatalf("%v, %v", d, err)
	}
	row := d.Rows[4]
	if *row.Number != 4 || row.ModelName != "lenet" || row.Family != "lenet" || *row.ConvLayers != 2 ||
		row.Start != "2026-01-02 03:04:05.000006" || row.Setting != "desktop-t1" || *row.Cores != 2 {
		t.Errorf("%+v", row)
	}
	table, err := dataset.Load[measurement.Kernel](filepath.Join(dir, "lenet.onnx-desktop.kernels.csv"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if kernels := table.Rows; len(kernels) != 9 || kernels[0].Op != "Conv" || kernels[0].Seconds != nil {
		t.Errorf("%d kernels, the first %+v", len(kernels), kernels[0])
	}
	// another setting has rows of its own
	job.Setting.Stress = true
	s, err = c.Collect(t.Context(), job)
	if err != nil || s.Rows != 5 || s.Resumed != 0 {
		t.Errorf("another setting: %+v, %v", s, err)
	}
	if d, err = measurement.ReadDir(t.Context(), path); err != nil || len(d.Rows) != 10 || d.Rows[9].Load != "stress" || *d.Rows[9].LoadPercent < 20 || *d.Rows[9].StressCores < 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestImages(t *testing.T) {
	dir := t.TempDir()
	if _, err := ListImages(dir); !errors.Is(err, ErrImage) {
		t.Errorf("no images: %v", err)
	}
	picture := image.NewRGBA(image.Rect(0, 0, 4, 2))
	for x := range 4 {
		for y := range 2 {
			picture.Set(x, y, color.RGBA{R: uint8(255 * (x / 2)), G: 0, B: 255, A: 255})
		}
	}
	file, err := os.Create(filepath.Join(dir, "a.PNG"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(file, picture), file.Close()); err != nil {
		t.Fatal(err)
	}
	paths, err := ListImages(dir)
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	in := RandomInputs(map[string][]int64{"x": {1, 3, 1, 2}})
	size, err := loadImage(paths[0], in)
	if diff := cmp.Diff([]float32{0, 1, 0, 0, 1, 1}, in["x"].Data); err != nil || diff != "" || size < 60 {
		t.Errorf("%d bytes, %v\n%s", size, err, diff)
	}
	if _, err := loadImage(paths[0], RandomInputs(map[string][]int64{"x": {1, 8}})); !errors.Is(err, ErrImage) {
		t.Errorf("an input that is no image: %v", err)
	}
	bad := filepath.Join(dir, "b.jpg")
	if err := os.WriteFile(bad, []byte("?"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := loadImage(bad, in); !errors.Is(err, ErrImage) || !strings.Contains(err.Error(), "b.jpg") {
		t.Errorf("no image: %v", err)
	}
}

// A load is as many goroutines as cores, and gone when stop returns.
func TestStressStops(t *testing.T) {
	working := func() int {
		stacks := make([]byte, 1<<20)
		return strings.Count(string(stacks[:goruntime.Stack(stacks, true)]), "collection.stress.func1(")
	}
	for _, cores := range []int{0, 1, 3} {
		stop := stress(cores, 0.5)
		for tries := 0; working() != cores; tries++ { // until all have begun
			if tries == 1e5 {
				t.Fatalf("%d goroutines for %d cores", working(), cores)
			}
			goruntime.Gosched()
		}
		stop()
		if n := working(); n > 0 {
			t.Errorf("%d goroutines are left", n)
		}
	}
}

// An input that decides how many values a model returns is named with the rows.
func TestInputDecides(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "top.onnx")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	one := []onnx.Dim{{Size: 1}}
	m := &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17}, Graph: onnx.Graph{
		Name:    "top",
		Inputs:  []onnx.Value{{Name: "x", Type: onnx.Float32, Known: true, Shape: []onnx.Dim{{Size: 8}}}, {Name: "k", Type: onnx.Int64, Known: true, Shape: one}},
		Nodes:   []onnx.Node{{Op: "TopK", Inputs: []string{"x", "k"}, Outputs: []string{"values", "places"}}},
		Outputs: []onnx.Value{{Name: "values"}},
	}}
	if err := errors.Join(onnx.Write(file, m, nil), file.Close()); err != nil {
		t.Fatal(err)
	}
	times := 0
	c := Collector{
		Dir: dir, Host: host(), Clock: time.Now,
		Open: func(context.Context, Job) (runtime.Session, error) { return fake{times: &times}, nil },
	}
	s, err := c.Collect(t.Context(), Job{Model: path, Setting: measurement.Setting{Device: "desktop", Threads: 1}, Iterations: 1, Profiles: 1})
	if err != nil || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Error(), "input k") {
		t.Errorf("%+v, %v", s, err)
	}
}

// A model that does not fit into the free memory is not opened.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	small := host()
	small.Root.(fstest.MapFS)["proc/meminfo"] = &fstest.MapFile{Data: []byte("MemTotal: 64 kB\nMemAvailable: 32 kB\n")}
	c := Collector{
		Dir: dir, Host: small, Clock: time.Now,
		Open: func(context.Context, Job) (runtime.Session, error) { return nil, errBroken },
	}
	_, err := c.Collect(t.Context(), Job{Model: lenet(t, dir), Setting: measurement.Setting{Device: "desktop", Threads: 1}, Iterations: 1})
	if err == nil || errors.Is(err, errBroken) || !strings.Contains(err.Error(), "bytes of memory, 32768 are free") {
		t.Error(err)
	}
}
