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

	"github.com/foretime/foretime/edgeprof/internal/collection"
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

// The runtimes, by their names in measurements; auto is the first one installed.
const (
	runtimeGo   = "go"
	runtimeORT  = "ort"
	runtimeAuto = "auto"
)

// running holds the runtime that runs models and the machine's resources for it.
type running struct {
	runtime    string
	threads    int
	cpus       []int
	quota      float64
	ortLibrary string
	sizes      []string
	values     []string // of inputs that decide sizes

	// found is the native library of the last session: its file and its name.
	found [2]string
}

// flags adds the flags of the machine and the path of ONNX Runtime.
func (r *running) flags(c *cobra.Command) {
	r.machineFlags(c)
	r.ortLibraryFlag(c)
}

// ortLibraryFlag adds the path of ONNX Runtime.
func (r *running) ortLibraryFlag(c *cobra.Command) {
	c.Flags().StringVar(&r.ortLibrary, "ort-library", "", "path of libonnxruntime.so (default: searched in the Python environment, node_modules, python3's packages and the system's directories)")
}

// machineFlags adds the runtime's flags and those of the CPUs that it may use.
func (r *running) machineFlags(c *cobra.Command) {
	r.runtimeFlags(c)
	c.Flags().IntSliceVar(&r.cpus, "pin", nil, "CPUs that inferences may use, such as 0 or 0,1 (default: any)")
	c.Flags().Float64Var(&r.quota, "quota", 1, "fraction of CPU time for inferences, above 0 and at most 1")
}

func (r *running) runtimeFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.runtime, "runtime", runtimeAuto, "runtime: ort (ONNX Runtime, through edgeprof-ort), go (built in), or auto (ort if it loads, else go)")
	cli.Values(c, "runtime", runtimeAuto, "go", "ort")
	f.IntVar(&r.threads, "threads", 1, "threads per inference")
	dimFlag(c, &r.sizes)
}

func (r *running) check() error {
	switch {
	case r.runtime != runtimeGo && r.runtime != runtimeORT && r.runtime != runtimeAuto:
		return cli.Usagef("--runtime %s: want go, ort or auto", r.runtime)
	case r.threads < 1 || r.threads > goruntime.NumCPU():
		return cli.Usagef("--threads %d: want 1 to %d, the number of CPUs of this machine", r.threads, goruntime.NumCPU())
	case !(r.quota > 0 && r.quota <= 1):
		return cli.Usagef("--quota %v: want a number above 0 and at most 1", r.quota)
	}
	return nil
}

// oneNode returns a model with one cheap operator.
func oneNode() *onnx.Model {
	x := onnx.Value{Name: "x", Type: onnx.Float32, Known: true, Shape: []onnx.Dim{{Size: 1}}}
	return &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17}, Graph: onnx.Graph{
		Name: "one", Nodes: []onnx.Node{{Op: "Relu", Inputs: []string{"x"}, Outputs: []string{"y"}}}, Inputs: []onnx.Value{x},
		Outputs: []onnx.Value{{Name: "y", Type: onnx.Float32, Known: true, Shape: x.Shape}},
	}}
}

// resolve replaces auto by the runtime that is installed.
func (r *running) resolve(ctx context.Context, env *cli.Env) error {
	if err := r.check(); err != nil || r.runtime == runtimeGo {
		return err
	}
	err := r.installed(ctx)
	switch {
	case r.runtime == runtimeAuto && errors.Is(err, runtime.ErrUnavailable):
		env.Log.Infof("using the Go runtime: %v", err)
		r.runtime = runtimeGo
		return nil
	case err == nil:
		r.runtime = runtimeORT
		env.Log.Infof("using %s", r.found[1])
	}
	return err
}

// installed makes ONNX Runtime load a model of one node. The error matches
// [runtime.ErrUnavailable] if it is not installed.
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
	probe.runtime, probe.sizes, probe.values = runtimeORT, nil, nil
	session, err := probe.start(ctx, path)
	if err != nil {
		return err
	}
	r.found = probe.found
	return session.Close()
}

// start loads a model in a worker process: another process of this program, or the
// program that drives ONNX Runtime.
func (r *running) start(ctx context.Context, path string) (*worker.Session, error) {
	settings, err := dimensions(r.sizes)
	if err == nil {
		err = settings.ParseValues(r.values)
	}
	if err != nil {
		return nil, err
	}
	return r.open(ctx, path, settings)
}

// load does the same with the caller's sizes.
func (r *running) load(ctx context.Context, path string, sizes map[string]int64) (*worker.Session, error) {
	return r.open(ctx, path, onnx.Settings{Sizes: sizes})
}

func (r *running) open(ctx context.Context, path string, settings onnx.Settings) (*worker.Session, error) {
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
		library = cmp.Or(library, r.found[0]) // the path of the last session
	}
	session, err := worker.Start(ctx, command, worker.Model{Path: path, Threads: r.threads, Sizes: settings.Sizes, Values: settings.Values, Library: library, ProcessorTime: r.threads == 1 && r.quota == 1})
	if err == nil && r.runtime == runtimeORT {
		r.found[0], r.found[1] = session.Library()
	}
	return session, err
}

// inputs returns random inputs of a session, those that --size names with their values.
func (r *running) inputs(session *worker.Session) (map[string]runtime.Tensor, error) {
	var settings onnx.Settings
	if err := settings.ParseValues(r.values); err != nil {
		return nil, err
	}
	inputs := collection.RandomInputs(session.Inputs())
	for name, values := range settings.Values {
		for i := range inputs[name].Data {
			inputs[name].Data[i] = float32(values[min(i, len(values)-1)])
		}
	}
	return inputs, nil
}

// setting returns the setting that measured rows carry.
func (r *running) setting(device string) measurement.Setting {
	return measurement.Setting{Device: device, Runtime: r.runtime, Threads: r.threads, CPUs: r.cpus, Quota: r.quota}
}

// facts returns the facts of a calibration of a device, made now.
func (r *running) facts(d *device.Device) profiler.Facts {
	return profiler.Facts{
		Runtime: r.runtime, Library: r.found[1], Threads: r.threads, Quota: r.quota, UUID: d.UUID, Device: d.Model, Processor: d.Processor, Cores: d.Cores, MaxMHz: d.MaxMHz,
		When: time.Now().UTC().Format(time.RFC3339), Products: profiler.Products(r.runtime),
	}
}

// ortWorker is the program that drives ONNX Runtime.
const ortWorker = "edgeprof-ort"

// findWorker looks for the worker in this program's directory, then in $PATH.
func findWorker(self string) (string, error) {
	neighbour := filepath.Join(filepath.Dir(self), ortWorker)
	if _, err := os.Stat(neighbour); err == nil {
		return neighbour, nil
	}
	path, err := exec.LookPath(ortWorker)
	if err != nil {
		return "", fmt.Errorf("%w: %s is neither in the directory of %s nor in $PATH; build it with: go build ./edgeprof/cmd/%s", runtime.ErrUnavailable, ortWorker, filepath.Base(self), ortWorker)
	}
	return path, nil
}

// newWorkerCommand returns worker, which edgeprof starts to run models in Go.
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
	session, err := native.Load(model, weights, onnx.Settings{Sizes: m.Sizes, Values: m.Values}, time.Now)
	if err == nil && m.ProcessorTime {
		session.UseProcessorTime(timing.ProcessCPU)
	}
	return session, errors.Join(err, weights.Close())
}
