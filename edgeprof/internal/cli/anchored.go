package cli

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/prediction"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/timing"
)

// anchors returns seven models of different families: full width, small files.
func anchors() []sized {
	return []sized{
		{"densenet", synth.Size{Width: 1, Resolution: 64}}, {"efficientnet", synth.Size{Width: 1, Resolution: 112}}, {"googlenet", synth.Size{Width: 1, Resolution: 96}},
		{"mobilenetv2", synth.Size{Width: 1, Resolution: 160}}, {"resnet", synth.Size{Width: 1, Resolution: 96}}, {"transformer", synth.Size{Width: 1, Depth: 3, Resolution: 96}},
		{"lstm", synth.Size{Width: 0.5, Resolution: 32}},
	}
}

// here returns the predictor of this machine now: its rates are those of a file, anchored,
// and allow for changes of the machine's speed since they were measured.
func here(ctx context.Context, env *cli.Env, calibration string, with *running, machine *device.Device) (prediction.Predictor, error) {
	rates, err := newCatalog().Rates(calibration)
	if err != nil {
		return nil, err
	}
	if rates, err = anchored(ctx, env, rates, with.ortLibrary, machine); err != nil {
		return nil, err
	}
	return prediction.NewCalibrated(rates.ForThisMachine(), nil), nil
}

// busyAge is the time for which rates are kept that were measured next to other work.
const busyAge = 10 * time.Minute

// anchored scales the built-in rates by a few models that it measures on this machine:
// a processor's name does not say what a core does in a cycle. The result is kept until
// the next boot, since machine images are cloned, or for some minutes if other work made
// it uncertain. Other rates are returned as they are, and so are the built-in ones, with a
// warning, if ONNX Runtime is not installed.
func anchored(ctx context.Context, env *cli.Env, rates *profiler.Calibration, ortLibrary string, here *device.Device) (*profiler.Calibration, error) {
	if !rates.Facts.Shipped {
		return rates, nil
	}
	o := calibrating{with: running{threads: 1, ortLibrary: ortLibrary}, runs: 3, size: 1, made: anchors(), speed: timing.NewYardstick(timing.ThreadCPU)}
	boot, _ := fs.ReadFile(env.Root, "proc/sys/kernel/random/boot_id") // "" if the kernel has none
	setting := fmt.Sprintf("few models since boot %s, rates %.12x", strings.TrimSpace(string(boot)), sha256.Sum256(builtInRates))
	if ortLibrary != "" {
		setting += ", " + ortLibrary
	}
	folder, noFolder := os.UserCacheDir()
	path := filepath.Join(folder, "foretime", "edgeprof", "anchored.json")
	data, _ := os.ReadFile(path)
	kept, err := prediction.ParseRates(data)
	if err != nil || kept.Facts.Setting != setting || !lasting(&kept.Facts, time.Now()) {
		if err := o.with.installed(ctx); err != nil {
			env.Log.Warnf("these rates were measured on another machine: %v", err)
			return rates, nil
		}
		if kept, err = o.anchor(ctx, env, rates, setting, here); err != nil {
			return nil, err
		}
		if noFolder == nil && os.MkdirAll(filepath.Dir(path), 0o755) == nil {
			if err := file.WriteJSON(path, kept); err != nil {
				return nil, err
			}
		}
	}
	if !kept.Facts.Idle() {
		env.Log.Warnf("other work ran while these models were measured: the rates are less certain, and are measured again after %v", busyAge)
	}
	env.Log.Warnf("rates rest on only %d models measured on this machine; edgeprof calibrate (60 s) measures it fully", kept.Models)
	return kept, nil
}

// anchor measures the models and scales rates by them.
func (o *calibrating) anchor(ctx context.Context, env *cli.Env, rates *profiler.Calibration, setting string, here *device.Device) (*profiler.Calibration, error) {
	measured, err := o.measured(ctx, env)
	if err != nil {
		return nil, err
	}
	facts := o.with.facts(here)
	facts.Setting, facts.SpeedSD = setting, o.speed.SD()
	if facts.ProbedTasks, err = felt(ctx, env.Root, here); err != nil {
		return nil, err
	}
	return rates.Anchored(profiler.Cases(measured), facts)
}

// lasting reports whether kept rates still hold: those of the idle machine do.
func lasting(f *profiler.Facts, now time.Time) bool {
	when, err := time.Parse(time.RFC3339, f.When)
	return err == nil && (f.Idle() || now.Sub(when) < busyAge)
}

// felt returns the number of processors that other work uses now, or used when a device was
// read, whichever is more; nil if one of them is unknown.
func felt(ctx context.Context, root fs.FS, before *device.Device) (*float64, error) {
	now, err := thisMachine(ctx, root)
	if err != nil || before.Load.ProbedTasks == nil || now.Load.ProbedTasks == nil {
		return nil, err
	}
	most := max(*before.Load.ProbedTasks, *now.Load.ProbedTasks)
	return &most, nil
}
