package collection_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/collection"
	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/edgeprof/internal/runtime/native"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// Three inferences of a LeNet in Go on this machine.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	model := filepath.Join(dir, "lenet.onnx")
	if err := write(model); err != nil {
		fmt.Println(err)
		return
	}
	c := collection.Collector{Dir: dir, Open: open, Host: device.Local{Root: os.DirFS("/"), Host: "here"}, Clock: time.Now}
	job := collection.Job{Model: model, Iterations: 3, Profiles: 1, Setting: measurement.Setting{Device: "desktop", Runtime: "go", Threads: 1, Quota: 1}}
	s, err := c.Collect(context.Background(), job)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Model, s.Setting, s.Rows, "rows", s.Kernels, "kernels", s.Min > 0)
	// Output: lenet desktop-go-t1 3 rows 13 kernels true
}

func write(path string) error {
	m, err := synth.New("lenet", synth.Size{})
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return onnx.Write(f, m, synth.RandomWeights(1))
}

// open loads the model in this process; the command does so in a worker.
func open(_ context.Context, job collection.Job) (runtime.Session, error) {
	m, err := onnx.ReadFile(job.Model)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(job.Model)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return native.Load(m, f, onnx.Settings{}, time.Now)
}
