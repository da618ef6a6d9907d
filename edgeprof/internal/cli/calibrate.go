package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/edgeprof/internal/collection"
	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/prediction"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/timing"
)

// builtInRates holds the rates of one thread on a machine of ours, as calibrate writes
// them.
//
//go:embed rates.json
var builtInRates []byte

// newCatalog returns the rates of files and the built-in ones.
func newCatalog() *prediction.Catalog {
	path, err := calibrationPath("")
	if err != nil {
		path = "" // there is no home directory
	}
	return &prediction.Catalog{Default: path, Builtin: builtInRates}
}

// calibrationModels returns models of every family, one narrow and one of full width,
// and chains of operators. All run in half a minute.
func calibrationModels() []sized {
	return []sized{
		{"alexnet", synth.Size{Width: 0.4, Resolution: 96}}, {"alexnet", synth.Size{Width: 1, Resolution: 96}},
		{"densenet", synth.Size{Width: 0.25, Resolution: 64}}, {"densenet", synth.Size{Width: 1, Resolution: 64}},
		{"efficientnet", synth.Size{Width: 0.4, Resolution: 64}}, {"efficientnet", synth.Size{Width: 1, Resolution: 112}},
		{"googlenet", synth.Size{Width: 0.4, Resolution: 64}}, {"googlenet", synth.Size{Width: 1, Resolution: 96}},
		{"lenet", synth.Size{Width: 1, Resolution: 28}}, {"lenet", synth.Size{Width: 4, Resolution: 64}},
		{"lstm", synth.Size{Width: 0.5, Resolution: 32}}, {"lstm", synth.Size{Width: 1, Resolution: 16}}, {"lstm", synth.Size{Width: 0.25, Resolution: 100}}, {"lstm", synth.Size{Width: 1, Resolution: 4}},
		{"mlp", synth.Size{Width: 1, Resolution: 28}}, {"mlp", synth.Size{Width: 3, Depth: 5, Resolution: 32}},
		{"mobilenetv2", synth.Size{Width: 0.5, Resolution: 64}}, {"mobilenetv2", synth.Size{Width: 1, Resolution: 160}},
		{"operators", synth.Size{Width: 0.5, Resolution: 32}}, {"operators", synth.Size{Width: 1, Resolution: 64}}, {"operators", synth.Size{Width: 2, Depth: 1, Resolution: 128}},
		{"operators-bytes", synth.Size{Width: 0.25, Resolution: 48}}, {"operators-bytes", synth.Size{Width: 0.5, Resolution: 16}}, {"operators-bytes", synth.Size{Width: 1, Resolution: 32}},
		{"operators-images", synth.Size{Width: 0.06, Resolution: 32}}, {"operators-images", synth.Size{Width: 0.12, Resolution: 48}}, {"operators-images", synth.Size{Width: 0.25, Resolution: 64}},
		{"operators-images", synth.Size{Width: 0.25, Resolution: 128}}, {"operators-images", synth.Size{Width: 0.5, Resolution: 64}}, {"operators-images", synth.Size{Width: 0.5, Resolution: 128}},
		{"operators-responses", synth.Size{Width: 0.5, Resolution: 14}}, {"operators-responses", synth.Size{Width: 1, Resolution: 28}}, {"operators-responses", synth.Size{Width: 1.5, Resolution: 56}},
		{"operators-sequences", synth.Size{Width: 0.5, Resolution: 32}}, {"operators-sequences", synth.Size{Width: 1, Resolution: 64}},
		{"operators-vectors", synth.Size{Width: 0.25, Resolution: 28}}, {"operators-vectors", synth.Size{Width: 0.5, Resolution: 64}}, {"operators-vectors", synth.Size{Width: 1, Resolution: 48}},
		{"operators-signals", synth.Size{Width: 0.5, Resolution: 500}}, {"operators-signals", synth.Size{Width: 1, Resolution: 2000}}, {"operators-signals", synth.Size{Width: 0.5, Resolution: 8000}},
		{"operators-volumes", synth.Size{Width: 0.5, Resolution: 8}}, {"operators-volumes", synth.Size{Width: 1, Resolution: 16}}, {"operators-volumes", synth.Size{Width: 0.5, Resolution: 24}},
		{"resnet", synth.Size{Width: 0.25, Resolution: 64}}, {"resnet", synth.Size{Width: 1, Resolution: 96}}, {"resnet", synth.Size{Width: 1, Depth: 50, Resolution: 64}},
		{"transformer", synth.Size{Width: 0.5, Depth: 2, Resolution: 64}}, {"transformer", synth.Size{Width: 1, Depth: 3, Resolution: 96}},
		{"vgg", synth.Size{Width: 0.25, Depth: 11, Resolution: 64}}, {"vgg", synth.Size{Width: 1, Depth: 11, Resolution: 32}},
	}
}

// sized is a family with a size.
type sized struct {
	family string
	size   synth.Size
}

// modelsPerReading is the number of models measured between two readings of the
// machine's speed: one or two seconds.
const modelsPerReading = 5

// calibrating holds the flags of calibrate.
type calibrating struct {
	with running
	out  string
	own  []string // the user's models
	made []sized  // the models made here
	runs int
	size float64 // factor on the width of the models made here
	// limit is the time after which no more models are measured than an interval needs; 0 is
	// none.
	limit time.Duration
	start time.Time // of the command

	speed *timing.Yardstick // of this machine: read before, between and after the models
}

// newCalibrateCommand returns calibrate, which measures this machine's rates.
func newCalibrateCommand(env *cli.Env) *cobra.Command {
	o := calibrating{made: calibrationModels(), speed: timing.NewYardstick(timing.ThreadCPU)}
	var out cli.Output
	c := &cobra.Command{
		Use:     "calibrate",
		Example: "  edgeprof calibrate --for detector.onnx",
		Short:   "Measure how fast this machine runs each class of operator",
		Long: `Measure how fast this machine runs each class of operator: small models of every
family run a few times each. The kernels of the models named by --for are
measured too and correct the rates of similar kernels. An interrupted run with
--for continues where it stopped. On a busy machine it stops at the limit.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cal, err := o.calibrate(cmd.Context(), env)
			if err != nil {
				return err
			}
			return out.Print(env, cal, func(p *cli.Page) { calibrated(p, cal, o.out) })
		},
	}
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "file to write (default: the one that rank reads)")
	cli.OutputFile(c, "out")
	f.StringSliceVar(&o.own, "for", nil, "an .onnx file, or a directory of them, to correct predictions for; may be repeated")
	f.IntVar(&o.runs, "runs", 6, "bursts of timed inferences per model, in three rounds")
	f.DurationVar(&o.limit, "limit", 100*time.Second, "time after which only as many models are measured as an interval needs; 0 is none")
	f.Float64Var(&o.size, "size", 1, "factor on the width of the small models: less than 1 for a slow machine")
	o.with.flags(c)
	out.Flags(c)
	cli.First(c, "out", "for", "threads", "json")
	return c
}

func calibrated(p *cli.Page, cal *profiler.Calibration, path string) {
	table := p.Table("model", "measured ms", "predicted ms", "ratio")
	for _, e := range cal.Errors {
		table.Add(e.Model, 1000*e.Measured, 1000*e.Predicted, e.Ratio())
	}
	p.Line("each family is predicted by rates fitted to the others; interval %.2f to %.2f times", cal.Low, cal.High)
	p.Line("%s", cal.Facts.Library)
	p.Line("%s", path)
}

// calibrate measures this machine, fits rates and writes them.
func (o *calibrating) calibrate(ctx context.Context, env *cli.Env) (*profiler.Calibration, error) {
	if o.runs < 1 || !(o.size > 0 && o.size <= 1) {
		return nil, cli.Usagef("--runs %d --size %v: want runs of 1 or more and a size above 0, at most 1", o.runs, o.size)
	}
	o.start = time.Now()
	var err error
	if o.out, err = calibrationPath(o.out); err != nil {
		return nil, err
	}
	if err := o.with.require(ctx, env); err != nil {
		return nil, err
	}
	here, err := thisMachine(ctx, env.Root)
	if err != nil {
		return nil, err
	}
	if used := here.Load.ProbedTasks; used != nil && *used > profiler.Busy {
		env.Log.Warnf("other work uses %.1f processors: waiting time is subtracted, but the rates are less certain than on an idle machine", *used)
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return nil, err
	}
	data, err := o.measured(ctx, env)
	if err != nil {
		return nil, err
	}
	facts := o.with.facts(&here)
	facts.SpeedSD = o.speed.SD()
	if facts.ProbedTasks, err = felt(ctx, env.Root, &here); err != nil {
		return nil, err
	}
	cal, err := profiler.Calibrate(profiler.Cases(data), facts)
	if err != nil {
		return nil, err
	}
	if err := file.WriteJSON(o.out, cal); err != nil {
		return nil, err
	}
	return cal, os.RemoveAll(o.rows())
}

// rows returns the directory of the measurements of the user's own models. Its name
// contains a hash of the flags, so only a run with the same flags continues them.
func (o *calibrating) rows() string {
	w := o.with
	sum := sha256.Sum256(fmt.Append(nil, o.size, w.threads, w.cpus, w.ortLibrary, slices.Sorted(slices.Values(w.sizes))))
	return fmt.Sprintf("%s.measured-%x", strings.TrimSuffix(o.out, ".json"), sum[:4])
}

// measured returns the rows and kernels of small models of every family and of the
// user's own models.
func (o *calibrating) measured(ctx context.Context, env *cli.Env) (*measurement.Data, error) {
	dir, err := file.NewScratch("", "edgeprof-")
	if err != nil {
		return nil, err
	}
	defer file.RemoveScratch(dir)
	jobs, err := o.jobs(ctx, dir)
	if err != nil {
		return nil, err
	}
	rows := filepath.Join(dir, "rows")
	if len(o.own) > 0 {
		rows = o.rows()
	}
	if err := os.MkdirAll(rows, 0o755); err != nil {
		return nil, err
	}
	rounds := []int{1} // bursts of each: the first round is short, for a busy machine to end it
	for _, bursts := range []int{(o.runs - 1) / 2, o.runs / 2} {
		if bursts > 0 {
			rounds = append(rounds, bursts)
		}
	}
	bar := env.Progress("calibrate", int64(len(jobs)*o.runs))
	defer bar.Done()
	c, err := newCollector(env.Root, &o.with, rows)
	if err != nil {
		return nil, err
	}
	c.Step = func() { bar.Add(1) }
	measured, judged := 0, 0
	for round, bursts := range rounds {
		for i, job := range jobs {
			if i%modelsPerReading == 0 {
				if err := o.speed.Read(); err != nil {
					return nil, err
				}
			}
			if o.limit > 0 && time.Since(o.start) > o.limit && judged >= profiler.FewestModels {
				env.Log.Warnf("stopped after %v: %d of %d measurements are made; the processors do other work, and --limit allows more time", o.limit, measured, len(rounds)*len(jobs))
				return o.read(ctx, rows)
			}
			measured++
			if job.Family == "" && measurement.ModelFamily(filepath.Base(job.Model)) != profiler.Operators {
				judged++
			}
			job.Round, job.Iterations, job.Profiles = round, bursts, min(2*bursts, job.Profiles)
			if _, err := c.Collect(ctx, job); err != nil {
				return nil, err
			}
		}
	}
	return o.read(ctx, rows)
}

// read returns the rows of a directory, after a last reading of the machine's speed.
func (o *calibrating) read(ctx context.Context, rows string) (*measurement.Data, error) {
	if err := o.speed.Read(); err != nil {
		return nil, err
	}
	return measurement.ReadDir(ctx, rows)
}

// jobs returns all models to measure and writes the small ones into dir.
func (o *calibrating) jobs(ctx context.Context, dir string) ([]collection.Job, error) {
	plain := collection.Job{Setting: o.with.setting("desktop"), Warmup: 1, Profiles: o.runs}
	var jobs []collection.Job
	for _, s := range o.made {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.size.Width *= o.size
		m, err := synth.New(s.family, s.size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.family, err)
		}
		job := plain
		job.Model = filepath.Join(dir, fmt.Sprintf("%s width %.4g at %d.onnx", s.family, s.size.Width, s.size.Resolution))
		jobs = append(jobs, job)
		if err := writeModel(job.Model, m, 1); err != nil {
			return nil, err
		}
	}
	call := plain
	call.Model, call.Family = filepath.Join(dir, profiler.CallModel+".onnx"), profiler.Operators
	if err := writeModel(call.Model, oneNode(), 1); err != nil {
		return nil, err
	}
	jobs = append(jobs, call)
	files, err := modelFiles(o.own)
	if err != nil {
		return nil, err
	}
	own, err := ownJobs(plain, files, o.with.sizes)
	return firstOfEach(append(jobs, own...)), err
}

// firstOfEach returns jobs in an order whose beginning measures every class of operator
// and every family: the chains of operators, then the first model of each family and the
// user's own.
func firstOfEach(jobs []collection.Job) []collection.Job {
	rank := map[string]int{}
	seen := map[string]bool{}
	for _, job := range jobs {
		family := measurement.ModelFamily(filepath.Base(job.Model))
		switch {
		case family == profiler.Operators, job.Family == profiler.Operators:
		case job.Family == profiler.Own:
			rank[job.Model] = 1
		case seen[family]:
			rank[job.Model] = 2
		default:
			seen[family], rank[job.Model] = true, 1
		}
	}
	slices.SortStableFunc(jobs, func(a, b collection.Job) int { return cmp.Compare(rank[a.Model], rank[b.Model]) })
	return jobs
}

// errSameName is returned for two models with one file name.
var errSameName = errors.New("two models have the same file name")

// ownJobs returns the user's models, each with the given sizes of its open dimensions.
// FILE.onnx:NAME=SIZE applies to that file only.
func ownJobs(plain collection.Job, files, sizes []string) ([]collection.Job, error) {
	var jobs []collection.Job
	used := map[string]bool{}
	names := map[string]string{}
	for _, path := range files {
		name := filepath.Base(path)
		if other, ok := names[name]; ok {
			return nil, fmt.Errorf("%s, %s: %w", other, path, errSameName)
		}
		names[name] = path
		m, err := onnx.ReadFile(path)
		if err != nil {
			return nil, err
		}
		job := plain
		job.Model, job.Family, job.Sizes = path, profiler.Own, map[string]int64{}
		for _, text := range sizes {
			s, err := dimensions([]string{strings.TrimPrefix(text, name+":")})
			if err != nil {
				return nil, err
			}
			if _, err := onnx.Analyze(m, s); errors.Is(err, onnx.ErrDimension) {
				continue
			} else if err != nil && !errors.Is(err, onnx.ErrSize) { // which another size may fix
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			maps.Copy(job.Sizes, s.Sizes)
			used[text] = true
		}
		jobs = append(jobs, job)
	}
	for _, text := range sizes {
		if !used[text] {
			return nil, cli.Usagef("--dim %s: no model of --for has this open dimension", text)
		}
	}
	return jobs, nil
}

// calibrationPath returns the given file, or the one in the user's configuration
// directory.
func calibrationPath(path string) (string, error) {
	if path != "" {
		return path, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("%w; name a file with --out", err)
	}
	return filepath.Join(dir, "foretime", "edgeprof", "calibration.json"), nil
}

// local returns the source that lists only the machine this command runs on.
func local(root fs.FS) (device.Source, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return device.Local{Root: root, Host: host, Sleep: device.Sleep, Disk: rootUsage, Probe: &device.Probe{Window: 200 * time.Millisecond, MaxAge: 5 * time.Second}}, nil
}

// thisMachine returns the machine this command runs on, with its load now.
func thisMachine(ctx context.Context, root fs.FS) (device.Device, error) {
	source, err := local(root)
	if err != nil {
		return device.Device{}, err
	}
	devices, _, err := source.Devices(ctx)
	if err != nil {
		return device.Device{}, err
	}
	return devices[0], nil
}

// rootUsage returns the used share of the root file system in percent, computed as df
// does.
func rootUsage() (float64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs("/", &s); err != nil {
		return 0, err
	}
	used := float64(s.Blocks - s.Bfree)
	if used+float64(s.Bavail) == 0 {
		return 0, nil
	}
	return 100 * used / (used + float64(s.Bavail)), nil
}
