package cli

import (
	"context"
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
func here(ctx context.Context, env *cli.Env, speed *cli.Speed, calibration string, with *running, machine *device.Device) (prediction.Predictor, error) {
	rates := newCatalog()
	c, err := rates.Rates(calibration, with.runtime, *machine)
	if err != nil {
		return nil, err
	}
	if c, err = anchored(ctx, env, speed, rates, c, with.ortLibrary, machine); err != nil {
		return nil, err
	}
	speed.Read()
	age := time.Duration(0)
	if when, err := time.Parse(time.RFC3339, c.Facts.When); err == nil && !c.Facts.Shipped {
		age = time.Since(when)
	}
	return prediction.NewCalibrated([]*profiler.Calibration{c.On(speed.Readings(), age)}, nil, ""), nil
}

// busyAge is the time for which rates are kept that were measured next to other work.
const busyAge = 10 * time.Minute

// anchored scales the built-in rates by a few models that it measures on this machine:
// a processor's name does not say what a core does in a cycle. The result is kept until
// the next boot, since machine images are cloned, or for some minutes if other work made
// it uncertain. Other rates are returned as they are, and so are those of a runtime that
// is not installed.
func anchored(ctx context.Context, env *cli.Env, speed *cli.Speed, rates *prediction.Catalog, c *profiler.Calibration, ortLibrary string, here *device.Device) (*profiler.Calibration, error) {
	if !c.Facts.Shipped {
		return c, nil
	}
	o := calibrating{with: running{runtime: c.Facts.Runtime, threads: 1, quota: 1, ortLibrary: ortLibrary}, runs: 3, size: 1, made: anchors(), speed: speed}
	m, err := builtin()
	if err != nil {
		return nil, err
	}
	facts := o.with.facts(here)
	boot, _ := fs.ReadFile(env.Root, "proc/sys/kernel/random/boot_id") // "" if the kernel has none
	facts.Setting = fmt.Sprintf("few models since boot %s, rates %.12s", strings.TrimSpace(string(boot)), m.Hash)
	if ortLibrary != "" {
		facts.Setting += ", " + ortLibrary
	}
	folder, noFolder := os.UserCacheDir()
	path := filepath.Join(folder, "foretime", "edgeprof", "anchored-"+facts.Runtime+".json")
	data, _ := os.ReadFile(path)
	kept, err := rates.Parse(data)
	if err != nil || kept.Facts.Setting != facts.Setting || kept.Facts.Products != facts.Products || !lasting(&kept.Facts, time.Now()) {
		if facts.Runtime == runtimeORT && o.with.installed(ctx) != nil {
			return c, nil
		}
		measured, err := o.measured(ctx, env)
		if err != nil {
			return nil, err
		}
		facts.SpeedSD = o.speed.SD()
		if facts.ProbedTasks, err = felt(ctx, env.Root, here); err != nil {
			return nil, err
		}
		if kept, err = c.Anchored(profiler.Cases(measured), facts); err != nil {
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
