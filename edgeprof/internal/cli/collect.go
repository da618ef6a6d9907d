package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/collection"
	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/shared/cli"
)

// collecting is what `collect` is asked to do.
type collecting struct {
	with       running
	models     []string
	settings   collectSettings
	load       string
	out        string
	iterations int
	rounds     int
	profiles   int
}

// collectSettings say what the rows are of.
type collectSettings struct {
	Device  string `json:"device" help:"desktop, raspberrypi or jetson"`
	Family  string `json:"family" help:"family of the models (default: by the file's name)"`
	Images  string `json:"images" help:"folder of images to run on, in turn (default: random input)"`
	Warmup  int    `json:"warmup" help:"inferences of each model that are not counted"`
	Seed    uint64 `json:"seed" help:"of the background loads"`
	Library string `json:"ort-library" help:"path of libonnxruntime.so (default: looked for in node_modules and the system's folders)"`
	GPU     string `json:"gpu-needed"`     // of old scripts: what is true is refused
	Mode    string `json:"inference-mode"` // of old scripts
}

// newCollectCommand times real inferences and keeps them as rows to train on.
func newCollectCommand(env *cli.Env) *cobra.Command {
	var out cli.Output
	o := collecting{settings: collectSettings{Device: "desktop", Warmup: 2, Seed: 1, GPU: "false", Mode: "simple"}}
	settings := cli.NewSettings(&o.settings)
	c := &cobra.Command{
		Use:     "collect",
		Example: "  edgeprof collect --model models --runtime go --out data",
		Short:   "Time real inferences and keep them, with the machine's state, as rows to train on",
		Long: `Time real inferences and keep them, with the machine's state, as rows to train on.

Each model gets a file MODEL.onnx-DEVICE.csv with a row for each iteration, and
MODEL.onnx-DEVICE.kernels.csv with the time of each of its kernels. A run that
was broken off, or killed, goes on where it stopped.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := settings.Load(); err != nil {
				return err
			}
			summaries, err := o.collect(cmd.Context(), env)
			if err != nil {
				return err
			}
			return out.Print(env, summaries, func(p *cli.Page) {
				table := p.Table("model", "setting", "rows", "resumed", "min ms", "p50 ms", "p90 ms", "kernels")
				for _, s := range summaries {
					table.Add(s.Model, s.Setting, s.Rows, s.Resumed, 1000*s.Min, 1000*s.P50, 1000*s.P90, s.Kernels)
				}
			})
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.models, "model", nil, "an .onnx file, or a folder of them; may be given many times")
	f.IntVar(&o.iterations, "iterations", 100, "rows of each model")
	f.StringVar(&o.load, "load", "none", "background load beside each inference: none, or stress (busy cores at 20 to 80 %, at random)")
	cli.Values(c, "load", "none", "stress")
	f.IntVar(&o.rounds, "rounds", 1, "times that all models are gone through; each has its part of the iterations")
	f.IntVar(&o.profiles, "profiles", 10, "inferences for the times of the kernels; 0 leaves them out")
	f.StringVar(&o.out, "out", ".", "folder for the rows")
	o.with.machineFlags(c)
	settings.Flags(c)
	out.Flags(c)
	cli.Require(c, "model")
	cli.First(c, "model", "out", "iterations", "runtime", "json")
	return c
}

func (o *collecting) check() error {
	if err := o.with.check(); err != nil {
		return err
	}
	s := &o.settings
	o.with.ortLibrary = s.Library
	gpu, err := strconv.ParseBool(s.GPU)
	switch {
	case o.iterations < 1 || s.Warmup < 0 || o.rounds < 1 || o.rounds > o.iterations || o.profiles < 0:
		return cli.Usagef("--iterations %d --warmup %d --rounds %d --profiles %d: want 1 or more, 0 or more, 1 to the iterations, 0 or more", o.iterations, s.Warmup, o.rounds, o.profiles)
	case o.load != "none" && o.load != "stress":
		return cli.Usagef("--load %s: want none or stress", o.load)
	case err != nil:
		return cli.Usagef("--gpu_needed %s: want true, false, 1 or 0", s.GPU)
	case gpu:
		return fmt.Errorf("--gpu_needed %s: %w: neither run time uses a GPU", s.GPU, runtime.ErrUnavailable)
	case s.Mode != "simple":
		return cli.Usagef("--inference_mode %s: want simple", s.Mode)
	}
	return nil
}

func (o *collecting) collect(ctx context.Context, env *cli.Env) ([]collection.Summary, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.with.resolve(ctx, env); err != nil {
		return nil, err
	}
	models, err := modelFiles(o.models)
	if err != nil {
		return nil, err
	}
	sizes, err := dimensions(o.with.sizes)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return nil, err
	}
	c, err := newCollector(env.Root, &o.with, o.out)
	if err != nil {
		return nil, err
	}
	c.Seed = o.settings.Seed
	setting := o.with.setting(o.settings.Device)
	setting.Stress = o.load == "stress"
	if o.settings.Images != "" {
		if c.Images, err = collection.Images(o.settings.Images); err != nil {
			return nil, err
		}
	}
	bar := env.Progress("collect", int64(len(models)*o.iterations))
	defer bar.Done()
	c.Step = func() { bar.Add(1) }
	var summaries []collection.Summary
	for round := range o.rounds {
		for _, model := range models {
			s, err := c.Collect(ctx, collection.Job{
				Model: model, Family: o.settings.Family, Sizes: sizes.Sizes, Warmup: o.settings.Warmup, Round: round, Profiles: o.profiles,
				Iterations: (o.iterations + o.rounds - 1 - round) / o.rounds,
				Setting:    setting,
			})
			if err != nil {
				return nil, err
			}
			cli.Warn(env, s.Warnings)
			summaries = append(summaries, s)
		}
	}
	return summaries, nil
}

// newCollector measures on this machine, into a folder.
func newCollector(root fs.FS, with *running, dir string) (*collection.Collector, error) {
	host, err := os.Hostname()
	return &collection.Collector{
		Dir: dir, Clock: time.Now, Host: device.Local{Root: root, Host: host, Disk: rootUsage},
		Open: func(ctx context.Context, job collection.Job) (runtime.Session, error) {
			return with.load(ctx, job.Model, job.Sizes)
		},
	}, err
}

// modelFiles lists the .onnx files that are named, or lie in folders that are.
func modelFiles(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		inside, err := filepath.Glob(filepath.Join(name, "*.onnx"))
		if err != nil {
			return nil, err
		}
		if len(inside) == 0 {
			return nil, fmt.Errorf("%s: %w", name, errNoModels)
		}
		files = append(files, inside...)
	}
	return files, nil
}

var errNoModels = errors.New("no .onnx files in this folder")
