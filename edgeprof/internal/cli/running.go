package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/edgeprof/internal/runtime/native"
	"github.com/foretime/foretime/edgeprof/internal/runtime/worker"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/timing"
)

// The run times, by the names that measurements carry; and the choice of the
// first that is installed.
const (
	runtimeGo   = "go"
	runtimeORT  = "ort"
	runtimeAuto = "auto"
)

// running is how models are run: by which run time, and with what of the
// machine.
type running struct {
	runtime    string
	threads    int
	cpus       []int
	quota      float64
	ortLibrary string
	sizes      []string

	// found is the native library that the last session had, by file and by name.
	found [2]string
}

// flags are those of the machine, and where ONNX Runtime is.
func (r *running) flags(c *cobra.Command) {
	r.machineFlags(c)
	c.Flags().StringVar(&r.ortLibrary, "ort-library", "", "path of libonnxruntime.so (default: looked for in the Python environment, node_modules, python3's packages and the system's folders)")
}

func (r *running) machineFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.runtime, "runtime", runtimeAuto, "run time: ort (ONNX Runtime, through edgeprof-ort), go (built in), or auto: ort where worker and library load, else go")
	cli.Values(c, "runtime", runtimeAuto, "go", "ort")
	f.IntVar(&r.threads, "threads", 1, "threads of an inference")
	f.IntSliceVar(&r.cpus, "pin", nil, "processors that inferences may use, such as 0 or 0,1 (default: any)")
	f.Float64Var(&r.quota, "quota", 1, "share of time that inferences may run, in (0, 1]")
	dimFlag(c, &r.sizes)
}

func (r *running) check() error {
	switch {
	case r.runtime != runtimeGo && r.runtime != runtimeORT && r.runtime != runtimeAuto:
		return cli.Usagef("--runtime %s: want go, ort or auto", r.runtime)
	case r.threads < 1 || r.threads > goruntime.NumCPU():
		return cli.Usagef("--threads %d: want 1 to %d, the processors of this machine", r.threads, goruntime.NumCPU())
	case !(r.quota > 0 && r.quota <= 1):
		return cli.Usagef("--quota %v: want it in (0, 1]", r.quota)
	}
	return nil
}

// oneNode is a model that computes next to nothing.
func oneNode() *onnx.Model {
	x := onnx.Value{Name: "x", Type: onnx.Float32, Known: true, Shape: []onnx.Dim{{Size: 1}}}
	return &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17}, Graph: onnx.Graph{
		Name: "one", Nodes: []onnx.Node{{Op: "Relu", Inputs: []string{"x"}, Outputs: []string{"y"}}}, Inputs: []onnx.Value{x},
		Outputs: []onnx.Value{{Name: "y", Type: onnx.Float32, Known: true, Shape: x.Shape}},
	}}
}

// resolve decides between the run times where that is left to it.
func (r *running) resolve(ctx context.Context, env *cli.Env) error {
	if err := r.check(); err != nil || r.runtime == runtimeGo {
		return err
	}
	err := r.installed(ctx)
	switch {
	case r.runtime == runtimeAuto && errors.Is(err, runtime.ErrUnavailable):
		env.Log.Infof("the run time is go: %v", err)
		r.runtime = runtimeGo
		return nil
	case err == nil:
		r.runtime = runtimeORT
		env.Log.Infof("the run time is %s", r.found[1])
	}
	return err
}

// installed has ONNX Runtime load a model of one node. The error matches
// [runtime.ErrUnavailable] where it is not there.
func (r *running) installed(ctx context.Context) error {
	dir, err := file.NewScratch("", "edgeprof-")
	if err != nil {
		return err
	}
	defer file.RemoveScratch(dir)
	path := filepath.Join(dir, "one.onnx")
	if err := writeModel(path, oneNode(), 1); err != nil {
		return err
	}
	probe := *r
	probe.runtime, probe.sizes = runtimeORT, nil
	session, err := probe.start(ctx, path)
	if err != nil {
		return err
	}
	r.found = probe.found
	return session.Close()
}

// start loads a model in a worker process: this program again, or the one that
// drives ONNX Runtime.
func (r *running) start(ctx context.Context, path string) (*worker.Session, error) {
	settings, err := dimensions(r.sizes)
	if err != nil {
		return nil, err
	}
	return r.load(ctx, path, settings.Sizes)
}

// load is start with sizes of the caller's.
func (r *running) load(ctx context.Context, path string, sizes map[string]int64) (*worker.Session, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := worker.Command{Path: self, Args: []string{"worker"}, CPUs: r.cpus, Quota: r.quota}
	if r.runtime == runtimeORT {
		if command.Path, err = findWorker(self); err != nil {
			return nil, err
		}
		command.Args = nil
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	library := r.ortLibrary
	if r.runtime == runtimeORT {
		library = cmp.Or(library, r.found[0]) // where the last session found it
	}
	session, err := worker.Start(ctx, command, worker.Model{Path: path, Threads: r.threads, Sizes: sizes, Library: library, ProcessorTime: r.threads == 1 && r.quota == 1})
	if err == nil && r.runtime == runtimeORT {
		r.found[0], r.found[1] = session.Library()
	}
	return session, err
}

// setting is what rows say of how models are run.
func (r *running) setting(device string) measurement.Setting {
	return measurement.Setting{Device: device, Runtime: r.runtime, Threads: r.threads, CPUs: r.cpus, Quota: r.quota}
}

// facts are those of a calibration of a device made so now.
func (r *running) facts(d *device.Device) profiler.Facts {
	return profiler.Facts{
		Runtime: r.runtime, Library: r.found[1], Threads: r.threads, Quota: r.quota, UUID: d.UUID, Device: d.Model, Processor: d.Processor, Cores: d.Cores, MaxMHz: d.MaxMHz,
		When: time.Now().UTC().Format(time.RFC3339), Products: profiler.Products(r.runtime),
	}
}

// ortWorker is the program that drives ONNX Runtime.
const ortWorker = "edgeprof-ort"

// findWorker looks beside this program, then in PATH.
func findWorker(self string) (string, error) {
	beside := filepath.Join(filepath.Dir(self), ortWorker)
	if _, err := os.Stat(beside); err == nil {
		return beside, nil
	}
	path, err := exec.LookPath(ortWorker)
	if err != nil {
		return "", fmt.Errorf("%w: no %s beside %s or in PATH; build it with: go build ./edgeprof/cmd/%s", runtime.ErrUnavailable, ortWorker, filepath.Base(self), ortWorker)
	}
	return path, nil
}

// newWorkerCommand is the other side of the Go run time; edgeprof starts it.
func newWorkerCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Run models for another edgeprof, over stdin and stdout",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return worker.Serve(cmd.Context(), env.Stdin, env.Stdout, loadNative)
		},
	}
}

func loadNative(_ context.Context, m worker.Model) (runtime.Session, error) {
	goruntime.GOMAXPROCS(max(1, m.Threads))
	model, err := onnx.ReadFile(m.Path)
	if err != nil {
		return nil, err
	}
	weights, err := onnx.OpenWeights(m.Path, model)
	if err != nil {
		return nil, err
	}
	session, err := native.Load(model, weights, onnx.Settings{Sizes: m.Sizes}, time.Now)
	if err == nil && m.ProcessorTime {
		session.UseProcessorTime(timing.ProcessCPU)
	}
	return session, errors.Join(err, weights.Close())
}
