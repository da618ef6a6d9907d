package cli

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/collection"
	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/edgeprof/internal/runtime/worker"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// running holds how ONNX Runtime runs models, and the machine's resources for it.
type running struct {
	threads    int // 0: as many as ONNX Runtime takes by default
	cpus       []int
	ortLibrary string
	provider   string // "" is the CPU
	sizes      []string
	values     []string // of inputs that decide sizes

	// found is the native library of the last session: its file and its name.
	found [2]string
}

// flags adds the flags of the machine and the path of ONNX Runtime.
func (r *running) flags(c *cobra.Command) {
	r.threadFlags(c)
	c.Flags().IntSliceVar(&r.cpus, "pin", nil, "CPUs that inferences may use, such as 0 or 0,1 (default: any)")
	r.ortLibraryFlag(c)
}

// ortLibraryFlag adds the path of ONNX Runtime.
func (r *running) ortLibraryFlag(c *cobra.Command) {
	c.Flags().StringVar(&r.ortLibrary, "ort-library", "", "path of libonnxruntime.so (default: searched in the Python environment, python3's packages and the system's directories)")
}

// providers are the names of ONNX Runtime's execution providers that models run on.
var providers = []string{"cpu", "cuda", "tensorrt"}

// providerFlag adds the execution provider.
func (r *running) providerFlag(c *cobra.Command) {
	c.Flags().StringVar(&r.provider, "provider", providers[0], "execution provider of ONNX Runtime: cpu, cuda or tensorrt, each with rates of its own")
	cli.Values(c, "provider", providers...)
}

// usesCPU reports whether models run on the CPU.
func (r *running) usesCPU() bool { return r.provider == "" || r.provider == providers[0] }

// threadFlags adds the number of threads and the sizes of open dimensions.
func (r *running) threadFlags(c *cobra.Command) {
	threadsFlag(c, &r.threads)
	dimFlag(c, &r.sizes)
}

// threadsFlag adds --threads; a command that does not set n has ONNX Runtime's default.
func threadsFlag(c *cobra.Command, n *int) {
	c.Flags().IntVar(n, "threads", *n, "threads per inference; 0 is ONNX Runtime's default: one for each physical core that it may use")
}

// setThreads replaces no number of threads by the one that ONNX Runtime takes here: one
// for each physical core that it may use.
func (r *running) setThreads(root fs.FS) {
	if r.threads == 0 {
		r.threads = device.Local{Root: root}.DefaultThreads()
		if len(r.cpus) > 0 {
			r.threads = min(r.threads, len(r.cpus))
		}
	}
}

func (r *running) check() error {
	if r.threads < 1 || r.threads > goruntime.NumCPU() {
		return cli.Usagef("--threads %d: want 1 to %d, the number of CPUs of this machine, or 0 for ONNX Runtime's default", r.threads, goruntime.NumCPU())
	}
	return r.checkProvider()
}

func (r *running) checkProvider() error {
	if !r.usesCPU() && !slices.Contains(providers, r.provider) {
		return cli.Usagef("--provider %s: want %s", r.provider, strings.Join(providers, ", "))
	}
	return nil
}

// require checks that ONNX Runtime is installed, and logs which one is used. The error
// matches [runtime.ErrUnavailable], and says how to install it, if it is not.
func (r *running) require(ctx context.Context, env *cli.Env) error {
	r.setThreads(env.Root)
	if err := r.check(); err != nil {
		return err
	}
	if err := r.checkInstalled(ctx); err != nil {
		return err
	}
	env.Log.Infof("using %s", r.found[1])
	return nil
}

// requireFor checks that a model fits into this machine's free memory, and then as require does.
func (r *running) requireFor(ctx context.Context, env *cli.Env, path string, a *onnx.Analysis) error {
	_, free := device.Local{Root: env.Root}.Memory()
	if err := checkMemory(a, free); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return r.require(ctx, env)
}

// checkInstalled makes ONNX Runtime load a small model. The error matches
// [runtime.ErrUnavailable] if it is not installed.
func (r *running) checkInstalled(ctx context.Context) error {
	dir, err := file.NewScratch("", "edgeprof-")
	if err != nil {
		return err
	}
	defer file.RemoveScratch(dir)
	path := filepath.Join(dir, "small.onnx")
	m, err := synth.New("lenet", synth.Size{})
	if err == nil {
		err = writeModel(path, m, 1)
	}
	if err != nil {
		return err
	}
	probe := *r
	probe.sizes, probe.values = nil, nil
	session, err := probe.start(ctx, path)
	if err != nil {
		return err
	}
	r.found = probe.found
	return session.Close()
}

// start loads a model in a worker process, the program that drives ONNX Runtime.
func (r *running) start(ctx context.Context, path string) (*worker.Session, error) {
	settings, err := dimensions(r.sizes)
	if err == nil {
		err = settings.ParseValues(r.values)
	}
	if err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := worker.Command{CPUs: r.cpus}
	if command.Path, err = findWorker(self); err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	library := cmp.Or(r.ortLibrary, r.found[0]) // the path of the last session
	session, err := worker.Start(ctx, command, worker.Model{Path: path, Threads: r.threads, Sizes: settings.Sizes, Values: settings.Values, Library: library, Provider: r.provider})
	if err == nil {
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

// facts returns the facts of a calibration of a device, made now.
func (r *running) facts(d *device.Device) profiler.Facts {
	return profiler.Facts{
		Library: r.found[1], Provider: r.provider, Threads: r.threads, UUID: d.UUID, Device: d.Model, Processor: d.Processor, Cores: d.Cores, MaxMHz: d.MaxMHz,
		When: time.Now().UTC().Format(time.RFC3339),
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
