package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/collection"
	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// collecting holds the flags of collect.
type collecting struct {
	with       running
	models     []string
	settings   collectSettings
	load       string
	out        string
	iterations int
}

// collectSettings holds the settings of collect.
type collectSettings struct {
	Device   string `json:"device" help:"desktop, raspberrypi or jetson"`
	Images   string `json:"images" help:"directory of images to run on, in turn (default: random input)"`
	Family   string `json:"family" help:"family of the models (default: from the file's name)"`
	Warmup   int    `json:"warmup" help:"untimed inferences per model"`
	Rounds   int    `json:"rounds" help:"passes over all models; each does its part of the iterations"`
	Profiles int    `json:"profiles" help:"inferences that time the kernels; 0 omits them"`
	Pin      []int  `json:"pin" help:"CPUs that inferences may use, such as [0] or [0, 1] (default: any)"`
	Seed     uint64 `json:"seed" help:"random seed of the background load"`
	Library  string `json:"ort-library" help:"path of libonnxruntime.so (default: as for edgeprof time)"`
	GPU      string `json:"gpu-needed" help:"whether inferences need a GPU: only false, since none is used here"`
	Mode     string `json:"inference-mode" help:"mode of inferences: only simple, one after another"`
}

// newCollectCommand returns collect, which times real inferences and keeps them as rows
// to train on.
func newCollectCommand(env *cli.Env) *cobra.Command { return newCollecting().command(env) }

func newCollecting() *collecting {
	return &collecting{settings: collectSettings{Device: "desktop", Warmup: 2, Rounds: 1, Profiles: 10, Seed: 1, GPU: "false", Mode: "simple"}}
}

func (o *collecting) command(env *cli.Env) *cobra.Command {
	var out cli.Output
	settings := cli.NewSettings(&o.settings)
	c := &cobra.Command{
		Use:     "collect [MODEL.onnx...]",
		Example: "  edgeprof collect models --out-dir data",
		Short:   "Time real inferences and store them, with the machine's state, as rows to train on",
		Long: `Time real inferences and store them, with the machine's state, as rows to train on.

Each model gets a file MODEL.onnx-DEVICE.csv with one row per iteration, and
MODEL.onnx-DEVICE.kernels.csv with the times of its kernels. An interrupted or
killed run continues where it stopped. Of a directory it takes every model;
without an argument it collects a model of every built-in family, on images of 96 x 96. The flags with an underscore are those of
the original's collection_metrics.py; with any of them the background load is stress.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := settings.Load(); err != nil {
				return err
			}
			o.models = args
			o.setOriginal(cmd)
			summaries, err := o.collect(cmd.Context(), env)
			if err != nil {
				return err
			}
			return out.Print(env, summaries, func(p *cli.Page) {
				table := p.Table("model", "setting", "rows", "resumed", "min (ms)", "p50 (ms)", "p90 (ms)", "kernels")
				for _, s := range summaries {
					table.Add(s.Model, s.Setting, s.Rows, s.Resumed, 1000*s.Min, 1000*s.P50, 1000*s.P90, s.Kernels)
				}
			})
		},
	}
	f := c.Flags()
	f.IntVar(&o.iterations, "iterations", 100, "rows per model")
	f.StringVar(&o.load, "load", "none", "background load during each inference: none, or stress (busy cores, 20 to 80 % at random; the default with a flag that has an underscore)")
	cli.Values(c, "load", "none", "stress")
	f.StringVar(&o.out, "out-dir", ".", "`directory` for the rows")
	f.String("device_type", "", "type of this device: desktop, raspberrypi or jetson (the setting device)")
	f.String("image_path", "", "directory of images to run on (the setting images)")
	f.String("gpu_needed", "", "whether inferences need a GPU: only false, since none is used here")
	f.String("inference_mode", "", "mode of inferences: only simple, one after another")
	o.with.threads = 1
	o.with.threadFlags(c)
	settings.Flags(c)
	out.Flags(c, []collection.Summary{})
	cli.First(c, "out-dir", "iterations", "json")
	return c
}

// setOriginal sets the settings that the flags of the original's script name. With any of
// them there is a background load unless --load says otherwise: that script always makes one.
func (o *collecting) setOriginal(cmd *cobra.Command) {
	s := &o.settings
	for name, setting := range map[string]*string{"device_type": &s.Device, "image_path": &s.Images, "gpu_needed": &s.GPU, "inference_mode": &s.Mode} {
		f := cmd.Flag(name)
		if !f.Changed {
			continue
		}
		*setting = f.Value.String()
		if !cmd.Flag("load").Changed {
			o.load = "stress"
		}
	}
}

func (o *collecting) check() error {
	s := &o.settings
	o.with.ortLibrary, o.with.cpus = s.Library, s.Pin
	if err := o.with.check(); err != nil {
		return err
	}
	gpu, err := strconv.ParseBool(s.GPU)
	switch {
	case o.iterations < 1:
		return cli.Usagef("--iterations %d: want 1 or more", o.iterations)
	case s.Warmup < 0 || s.Profiles < 0:
		return cli.Usagef("settings warmup %d, profiles %d: want 0 or more", s.Warmup, s.Profiles)
	case s.Rounds < 1 || s.Rounds > o.iterations:
		return cli.Usagef("setting rounds %d: want 1 to %d, the number of iterations", s.Rounds, o.iterations)
	case o.load != "none" && o.load != "stress":
		return cli.Usagef("--load %s: want none or stress", o.load)
	case err != nil:
		return cli.Usagef("--gpu_needed %s: want true, false, 1 or 0", s.GPU)
	case gpu:
		return fmt.Errorf("--gpu_needed %s: %w: inferences run on the CPU, and gpu_usage_percent would be that of other work; collect with --gpu_needed false", s.GPU, runtime.ErrUnavailable)
	case s.Mode != "simple":
		return cli.Usagef("--inference_mode %s: want simple", s.Mode)
	}
	return nil
}

func (o *collecting) collect(ctx context.Context, env *cli.Env) ([]collection.Summary, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.with.require(ctx, env); err != nil {
		return nil, err
	}
	models, err := modelFiles(o.models)
	if err != nil {
		return nil, err
	}
	if len(o.models) == 0 {
		dir, err := file.NewScratch("", "edgeprof-")
		if err != nil {
			return nil, err
		}
		defer file.RemoveScratch(dir)
		if models, err = writeFamilies(ctx, dir, o.settings.Images != ""); err != nil {
			return nil, err
		}
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
	setting := measurement.Setting{Device: o.settings.Device, Threads: o.with.threads, CPUs: o.with.cpus, Stress: o.load == "stress"}
	if o.settings.Images != "" {
		if c.Images, err = collection.ListImages(o.settings.Images); err != nil {
			return nil, err
		}
	}
	bar := env.Progress("collect", int64(len(models)*o.iterations))
	defer bar.Done()
	c.Step = func() { bar.Add(1) }
	var summaries []collection.Summary
	for round := range o.settings.Rounds {
		for _, model := range models {
			s, err := c.Collect(ctx, collection.Job{
				Model: model, Family: o.settings.Family, Sizes: sizes.Sizes, Warmup: o.settings.Warmup, Round: round, Profiles: o.settings.Profiles,
				Iterations: (o.iterations + o.settings.Rounds - 1 - round) / o.settings.Rounds,
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

// resolution is the height and width of the images of the built-in families.
const resolution = 96

// writeFamilies writes a model of each built-in family at full width, and returns the
// files; those whose input is an image if only they are wanted.
func writeFamilies(ctx context.Context, dir string, images bool) ([]string, error) {
	var files []string
	for _, family := range synth.Families() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if strings.HasPrefix(family, profiler.Operators) { // made to measure operators
			continue
		}
		m, err := synth.New(family, synth.Size{})
		if err != nil {
			return nil, err
		}
		if shape := m.Graph.Inputs[0].Shape; len(shape) == 4 && shape[1].Size == 3 {
			m, err = synth.New(family, synth.Size{Resolution: resolution})
		} else if images && len(shape) != 4 {
			continue
		}
		path := filepath.Join(dir, family+".onnx")
		if err == nil {
			err = writeModel(path, m, 1)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", family, err)
		}
		files = append(files, path)
	}
	return files, nil
}

// newCollector returns a collector that measures on this machine into a directory.
func newCollector(root fs.FS, with *running, dir string) (*collection.Collector, error) {
	host, err := os.Hostname()
	return &collection.Collector{
		Dir: dir, Clock: time.Now, Host: device.Local{Root: root, Host: host, Disk: rootUsage},
		Open: func(ctx context.Context, job collection.Job) (runtime.Session, error) {
			one := *with
			one.threads = job.Setting.Threads
			return one.start(ctx, job.Model)
		},
	}, err
}

// modelFiles returns the named .onnx files and those in named directories.
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

var errNoModels = errors.New("no .onnx files in this directory")
