package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/edgeprof/collection"
	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/edgeprof/httpapi"
	"github.com/foretime/foretime/edgeprof/measurement"
	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/edgeprof/profiler"
	"github.com/foretime/foretime/edgeprof/synth"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// defaultCalibration is what the built-in model knows of the Go run time on the
// machine that it was trained on; it serves where a device has none of its own.
//
//go:embed calibration.json
var defaultCalibration []byte

// trained is the built-in model, whose trees refine the rates of any device.
//
//go:embed model.json.gz
var trained []byte

// builtin reads the built-in model, once.
var builtin = sync.OnceValues(func() (*profiler.Model, error) {
	r, err := gzip.NewReader(bytes.NewReader(trained))
	if err != nil {
		return nil, err
	}
	return profiler.ReadModel(r)
})

// small models of every family, two sizes each, and chains of operators: a few
// seconds to run all.
func calibrationModels() []sized {
	return []sized{
		{"alexnet", synth.Size{Width: 0.25, Resolution: 112}}, {"alexnet", synth.Size{Width: 0.4, Resolution: 96}},
		{"densenet", synth.Size{Width: 0.25, Resolution: 64}}, {"densenet", synth.Size{Width: 0.4, Resolution: 96}},
		{"efficientnet", synth.Size{Width: 0.4, Resolution: 64}}, {"efficientnet", synth.Size{Width: 0.6, Resolution: 112}},
		{"googlenet", synth.Size{Width: 0.4, Resolution: 64}}, {"googlenet", synth.Size{Width: 0.6, Resolution: 112}},
		{"lenet", synth.Size{Width: 1, Resolution: 28}}, {"lenet", synth.Size{Width: 4, Resolution: 64}},
		{"lstm", synth.Size{Width: 0.5, Resolution: 32}}, {"lstm", synth.Size{Width: 1, Resolution: 16}},
		{"mlp", synth.Size{Width: 1, Resolution: 28}}, {"mlp", synth.Size{Width: 3, Depth: 5, Resolution: 32}},
		{"mobilenetv2", synth.Size{Width: 0.5, Resolution: 64}}, {"mobilenetv2", synth.Size{Width: 0.75, Resolution: 128}},
		{"operators", synth.Size{Width: 0.5, Resolution: 32}}, {"operators", synth.Size{Width: 1, Resolution: 64}}, {"operators", synth.Size{Width: 2, Depth: 1, Resolution: 128}},
		{"operators-images", synth.Size{Width: 0.06, Resolution: 32}}, {"operators-images", synth.Size{Width: 0.12, Resolution: 48}}, {"operators-images", synth.Size{Width: 0.25, Resolution: 64}},
		{"operators-images", synth.Size{Width: 0.25, Resolution: 128}}, {"operators-images", synth.Size{Width: 0.5, Resolution: 64}}, {"operators-images", synth.Size{Width: 0.5, Resolution: 128}},
		{"operators-sequences", synth.Size{Width: 0.5, Resolution: 32}}, {"operators-sequences", synth.Size{Width: 1, Resolution: 64}},
		{"operators-vectors", synth.Size{Width: 0.25, Resolution: 28}}, {"operators-vectors", synth.Size{Width: 0.5, Resolution: 64}}, {"operators-vectors", synth.Size{Width: 1, Resolution: 48}},
		{"resnet", synth.Size{Width: 0.25, Resolution: 64}}, {"resnet", synth.Size{Width: 0.5, Depth: 34, Resolution: 96}},
		{"transformer", synth.Size{Width: 0.5, Depth: 2, Resolution: 64}}, {"transformer", synth.Size{Width: 1, Depth: 3, Resolution: 96}},
		{"vgg", synth.Size{Width: 0.25, Depth: 11, Resolution: 64}}, {"vgg", synth.Size{Width: 0.25, Depth: 16, Resolution: 96}},
	}
}

type sized struct {
	family string
	size   synth.Size
}

// newCalibrateCommand measures this machine's rates.
func newCalibrateCommand(env *cli.Env) *cobra.Command {
	var out string
	var runs int
	var with running
	var asJSON bool
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure how fast this machine runs what models are made of",
		Long: `Measure how fast this machine runs what models are made of: small models of
every family run a few times each, and each class of operator gets its rates.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runs < 1 {
				return cli.Usagef("--runs %d: want 1 or more", runs)
			}
			path, err := calibrationPath(out)
			if err != nil {
				return err
			}
			here, err := thisMachine(cmd.Context())
			if err != nil {
				return err
			}
			cal, err := calibrate(cmd.Context(), env, with, here, runs)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := writeCalibration(path, cal); err != nil {
				return err
			}
			if asJSON {
				return env.WriteJSON(cal)
			}
			table := cli.Table{Header: []string{"model", "measured ms", "predicted ms", "ratio"}}
			for _, e := range cal.Errors {
				table.Add(e.Model, fmt.Sprintf("%.3f", 1000*e.Measured), fmt.Sprintf("%.3f", 1000*e.Predicted), fmt.Sprintf("%.2f", e.Ratio()))
			}
			if _, err := table.WriteTo(env.Stdout); err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Stdout, "\npredictions by rates that the model's family had no part in; interval %.2f to %.2f times\n%s\n", cal.Low, cal.High, path)
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "file to write (default: where rank looks for it)")
	c.Flags().IntVar(&runs, "runs", 5, "counted inferences of each model, after one to warm up")
	with.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func calibrate(ctx context.Context, env *cli.Env, with running, here device.Device, runs int) (*profiler.Calibration, error) {
	if err := with.settle(ctx, env); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "edgeprof-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	models := calibrationModels()
	bar := env.Progress("calibrate", int64(len(models)))
	defer bar.Done()
	var ms []profiler.Measurement
	for _, s := range models {
		m, err := measure(ctx, with, dir, s, runs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.family, err)
		}
		ms = append(ms, m)
		bar.Add(1)
	}
	m, err := builtin()
	if err != nil {
		return nil, err
	}
	return m.Calibrate(ms, profiler.Facts{
		Runtime: with.runtime, Threads: with.threads, Quota: with.quota, UUID: here.UUID, Device: here.Model, Cores: here.Cores, MaxMHz: here.MaxMHz,
		When: time.Now().UTC().Format(time.RFC3339),
	})
}

// measure runs a model, made in a folder; the times are the shortest of the runs,
// those that other work on the machine disturbed least.
func measure(ctx context.Context, with running, dir string, s sized, runs int) (profiler.Measurement, error) {
	m, err := synth.New(s.family, s.size)
	if err != nil {
		return profiler.Measurement{}, err
	}
	path := filepath.Join(dir, "model.onnx")
	if err := writeModel(path, m, 1); err != nil {
		return profiler.Measurement{}, err
	}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		return profiler.Measurement{}, err
	}
	session, err := with.start(ctx, path)
	if err != nil {
		return profiler.Measurement{}, err
	}
	defer session.Close()
	inputs := collection.Inputs(session.Inputs())
	wholes, err := session.Time(ctx, inputs, runs+1)
	if err != nil {
		return profiler.Measurement{}, err
	}
	profiles, err := session.Profile(ctx, inputs, runs+1)
	if err != nil {
		return profiler.Measurement{}, err
	}
	out := profiler.Measurement{
		Model: fmt.Sprintf("%s width %g at %d", s.family, s.size.Width, s.size.Resolution), Family: measurement.FamilyOf(s.family), Analysis: a, Seconds: slices.Min(wholes[1:]),
		Nodes: slices.Clone(profiles[1].Nodes),
	}
	for _, p := range profiles[2:] {
		for i := range min(len(out.Nodes), len(p.Nodes)) {
			out.Nodes[i].Seconds = min(out.Nodes[i].Seconds, p.Nodes[i].Seconds)
		}
	}
	return out, nil
}

func writeCalibration(path string, c *profiler.Calibration) error {
	return file.WriteJSON(path, c)
}

// calibrationPath is the given file, or the one in the user's configuration.
func calibrationPath(path string) (string, error) {
	if path != "" {
		return path, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("%w: name a file with --out", err)
	}
	return filepath.Join(dir, "foretime", "edgeprof", "calibration.json"), nil
}

// readCalibration reads a file, or, where there is none at the default place,
// the built-in one.
func readCalibration(path string) (*profiler.Calibration, error) {
	at, err := calibrationPath(path)
	data := defaultCalibration
	if err == nil {
		read, readErr := os.ReadFile(at)
		switch {
		case readErr == nil:
			data = read
		case path != "" || !os.IsNotExist(readErr):
			return nil, readErr
		}
	}
	c, err := parseCalibration(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return c, nil
}

// ratesFor are the rates in a file for a device, of a run time where one is asked
// for. Where the rates at hand are of another, those that the built-in model was
// trained on serve; a file that is named has to have them itself.
func ratesFor(path, runtime string, d device.Device) (*profiler.Calibration, error) {
	c, err := readCalibration(path)
	if err != nil || runtime == "" || c.Facts.Runtime == runtime {
		return c, err
	}
	if path != "" {
		return nil, fmt.Errorf("%s: %w: its rates are of %s, not of %s", path, profiler.ErrCalibration, c.Facts.Runtime, runtime)
	}
	m, err := builtin()
	if err != nil {
		return nil, err
	}
	return httpapi.Setting(m.Settings, d, runtime)
}

// parseCalibration reads rates and has the built-in model refine them.
func parseCalibration(data []byte) (*profiler.Calibration, error) {
	c := &profiler.Calibration{}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(c); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	m, err := builtin()
	if err != nil {
		return nil, err
	}
	m.Use(c)
	return c, nil
}

// local is the machine this command runs on.
func local() (device.Source, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return device.Local{Root: os.DirFS("/"), Host: host, Sleep: device.Sleep, Disk: rootUsage}, nil
}

func thisMachine(ctx context.Context) (device.Device, error) {
	source, err := local()
	if err != nil {
		return device.Device{}, err
	}
	devices, _, err := source.Devices(ctx)
	if err != nil {
		return device.Device{}, err
	}
	return devices[0], nil
}

// rootUsage is the share of the root file system that is not available, in
// percent, as df has it.
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
