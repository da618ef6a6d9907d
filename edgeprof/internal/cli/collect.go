package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/collection"
	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/edgeprof/runtime"
	"github.com/foretime/foretime/shared/cli"
)

// collecting is what `collect` is asked to do.
type collecting struct {
	with       running
	models     []string
	deviceType string
	images     string
	mode       string
	gpu        string
	load       string
	family     string
	out        string
	iterations int
	warmup     int
	rounds     int
	profiles   int
	seed       uint64
}

// newCollectCommand times real inferences and keeps them as rows to train on.
func newCollectCommand(env *cli.Env) *cobra.Command {
	var o collecting
	var asJSON bool
	c := &cobra.Command{
		Use:   "collect",
		Short: "Time real inferences and keep them, with the machine's state, as rows to train on",
		Long: `Time real inferences and keep them, with the machine's state, as rows to train on.

Each model gets a file MODEL.onnx-DEVICE.csv with a row for each iteration, and
MODEL.onnx-DEVICE.kernels.csv with the time of each of its kernels. A run that
was broken off, or killed, goes on where it stopped.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			summaries, err := o.collect(cmd.Context(), env)
			if err != nil {
				return err
			}
			if asJSON {
				return env.WriteJSON(summaries)
			}
			table := cli.Table{Header: []string{"model", "setting", "rows", "resumed", "min ms", "p50 ms", "p90 ms", "kernels"}}
			for _, s := range summaries {
				table.Add(s.Model, s.Setting, s.Rows, s.Resumed, fmt.Sprintf("%.3f", 1000*s.Min), fmt.Sprintf("%.3f", 1000*s.P50), fmt.Sprintf("%.3f", 1000*s.P90), s.Kernels)
			}
			_, err = table.WriteTo(env.Stdout)
			return err
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.models, "model", nil, "an .onnx file, or a folder of them; may be given many times")
	f.IntVar(&o.iterations, "iterations", 100, "rows of each model")
	f.StringVar(&o.deviceType, "device_type", "desktop", "desktop, raspberrypi or jetson")
	f.StringVar(&o.images, "image_path", "", "folder of images to run on, in turn (default: random input)")
	f.StringVar(&o.gpu, "gpu_needed", "false", "true, false, 1 or 0; there is no run time for GPUs here, so true is refused")
	f.StringVar(&o.mode, "inference_mode", "simple", "accepted for the sake of old scripts")
	f.StringVar(&o.load, "load", "none", "background load beside each inference: none, or stress (busy cores at 20 to 80 %, at random)")
	f.StringVar(&o.family, "family", "", "family of the models (default: by the file's name)")
	f.IntVar(&o.warmup, "warmup", 2, "inferences of each model that are not counted")
	f.IntVar(&o.rounds, "rounds", 1, "times that all models are gone through; each has its part of the iterations")
	f.IntVar(&o.profiles, "profiles", 10, "inferences for the times of the kernels; 0 leaves them out")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the background loads")
	f.StringVar(&o.out, "out", ".", "folder for the rows")
	o.with.flags(c)
	f.BoolVar(&asJSON, "json", false, "print JSON")
	cli.Require(c, "model")
	return c
}

func (o *collecting) check() error {
	if err := o.with.check(); err != nil {
		return err
	}
	gpu, err := strconv.ParseBool(o.gpu)
	switch {
	case o.iterations < 1 || o.warmup < 0 || o.rounds < 1 || o.rounds > o.iterations || o.profiles < 0:
		return cli.Usagef("--iterations %d --warmup %d --rounds %d --profiles %d: want 1 or more, 0 or more, 1 to the iterations, 0 or more", o.iterations, o.warmup, o.rounds, o.profiles)
	case o.load != "none" && o.load != "stress":
		return cli.Usagef("--load %s: want none or stress", o.load)
	case err != nil:
		return cli.Usagef("--gpu_needed %s: want true, false, 1 or 0", o.gpu)
	case gpu:
		return fmt.Errorf("--gpu_needed %s: %w: neither run time uses a GPU", o.gpu, runtime.ErrUnavailable)
	case o.mode != "simple":
		return cli.Usagef("--inference_mode %s: want simple", o.mode)
	}
	return nil
}

func (o *collecting) collect(ctx context.Context, env *cli.Env) ([]collection.Summary, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.with.settle(ctx, env); err != nil {
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
	c, err := newCollector(&o.with, o.out)
	if err != nil {
		return nil, err
	}
	c.Seed = o.seed
	setting := o.with.setting(o.deviceType)
	setting.Stress = o.load == "stress"
	if o.images != "" {
		if c.Images, err = collection.Images(o.images); err != nil {
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
				Model: model, Family: o.family, Sizes: sizes.Sizes, Warmup: o.warmup, Round: round, Profiles: o.profiles,
				Iterations: (o.iterations + o.rounds - 1 - round) / o.rounds,
				Setting:    setting,
			})
			if err != nil {
				return nil, err
			}
			summaries = append(summaries, s)
		}
	}
	return summaries, nil
}

// newCollector measures on this machine, into a folder.
func newCollector(with *running, dir string) (*collection.Collector, error) {
	host, err := os.Hostname()
	return &collection.Collector{
		Dir: dir, Clock: time.Now, Host: device.Local{Root: os.DirFS("/"), Host: host, Disk: rootUsage},
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
