package trial

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/simcuda"
)

// SimulatedMachine returns a machine with a simulated device. Its file and the models' profiles
// are in the directory scratch, best on /dev/shm.
func SimulatedMachine(x *experiment.Experiment, lib string, built simcuda.Built, scratch string, environ []string) Machine {
	device := simcuda.Device{File: filepath.Join(scratch, "device"), Settings: x.Device}
	return Machine{
		Device: "sim", Hook: lib, Environ: device.Environ(built, environ), KnownKernels: true,
		Program: func(m *experiment.Model, x *experiment.Experiment) (Program, error) {
			p, err := m.Profile()
			if err != nil {
				return Program{}, err
			}
			file := filepath.Join(scratch, m.OutputName+".profile")
			if err := os.WriteFile(file, []byte(p.Text()), 0o600); err != nil {
				return Program{}, err
			}
			c := simcuda.Command{
				Profile: file, CSV: m.CSV(), Duration: x.Duration, MinJobs: x.MinJobs,
				Sleep: m.Pause(), Period: m.Period, Launch: max(m.LaunchCost, 0), Graph: m.Graph,
				MemoryBytes: p.AllocatedBytes, ReservedBytes: p.ReservedBytes,
			}
			if m.Period > 0 {
				c.Sleep = 0
			}
			return Program{Path: built.Workload, Args: c.Args()}, nil
		},
	}
}

// CUDA returns a machine with a GPU: python runs the program script of package gpu for each
// model. The models' entries are in the directory scratch.
func CUDA(lib, python, script, scratch string, environ []string) Machine {
	return Machine{
		Device: "cuda", Hook: lib, Environ: environ,
		Program: func(m *experiment.Model, x *experiment.Experiment) (Program, error) {
			file := filepath.Join(scratch, m.OutputName+".json")
			if err := writeEntry(file, m); err != nil {
				return Program{}, err
			}
			args := []string{
				script, file, strconv.Itoa(x.DeviceID), strconv.FormatFloat(x.Duration.Seconds(), 'f', -1, 64),
				"--sync-model-load", "--min-jobs", strconv.Itoa(x.MinJobs),
			}
			if m.Deadline > 0 {
				args = append(args, "--slo-ms", strconv.FormatFloat(milliseconds(m.Deadline), 'f', -1, 64))
			}
			if m.Period > 0 {
				args = append(args, "--period-ms", strconv.FormatFloat(milliseconds(m.Period), 'f', -1, 64))
			}
			if m.Compile {
				args = append(args, "--compile")
			}
			own := Program{Path: python, Args: args}
			if m.External() {
				own.Path = cmp.Or(m.PythonPath, python)
			}
			if m.External() && m.RepoPath != "" {
				own.Env = hook.Prepend(environ, "PYTHONPATH", m.RepoPath)[len(environ):]
			}
			return own, nil
		},
	}
}

// writeEntry writes a model as an entry of "models", the fields of Deft alone.
func writeEntry(path string, m *experiment.Model) error {
	entry := map[string]any{
		"model_name": m.ModelName, "model_weight": m.ModelWeight, "sleep_time": m.SleepTime.Seconds(),
		"input_file_path": m.InputFile, "output_file_path": outputDir(*m), "output_file_name": m.OutputName,
		"priority": m.Priority, "resize": m.Resize, "batch_size": m.BatchSize, "sync_level": m.SyncLevel,
	}
	if m.Height > 0 {
		entry["resize_size"] = []int{m.Height, m.Width}
	}
	text, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("%s: %w", m.OutputName, err)
	}
	return os.WriteFile(path, text, 0o644)
}
