package jobspec

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const whole = `name: lenet
dir: work
command: [./run.sh, "{lr}", "--batch={batch}", "{epochs}", "{hw}", "{scratch}/model"]
params: {lr: 1e-3, batch: 050}
epochs: 250
env: {OMP_NUM_THREADS: 2}
devices:
  cpu: {threads: 2}
  gpu: {count: 1}
sample: {fractions: [0.02, 0.04], min_epochs: [3, 6], repeats: 4, budget: 0.1, target: 0.02, timeout: 90s}
progress: {pattern: 'Epoch (\d+)'}
`

// TestErrorLines: an error of an entry names its line.
func TestErrorLines(t *testing.T) {
	job := "command: [a, '{epochs}', '{lr}']\nepochs: 10\nparams:\n  lr: 1\n"
	for text, want := range map[string]string{
		job + "sample: {timeout: 10}":           "line 5: ",
		job + "sample:\n  fractions: [2, 1]":    "line 6: sample.fractions: ",
		job + "sample:\n  budget: 3":            "line 5: sample: budget: 3",
		job + "stages: 0-4 5-10":                `line 5: stages: "5-10": want FROM-TO from 4 on`,
		job + "stages: 0-4 4-8":                 "line 5: stages: the last one ends at 8 of 10",
		job + "stages: [0-4, 4-10]":             "line 5: ",
		job + "progress:\n  pattern: '('":       "line 6: progress.pattern: ",
		job + "devices:\n  cpu: {}\n  tpu: {}":  "line 7: devices.tpu: ",
		job + "  epochs: 3":                     "line 5: params.epochs: reserved name",
		job + "unit: batch":                     "line 5: unit: ",
		"epochs: 3\ncommand: [a]":               "line 2: command: no {epochs}",
		"command: [a, '{epochs}']\nepochs: 9.5": "line 2: epochs: 9.5, want a whole number",
		job + "sample: {repeats: 2.5}":          "line 5: sample.repeats: 2.5, want a whole",
		job + "sample: {min_epochs: [3, 4.1]}":  "line 5: sample.min_epochs: 4.1, want a whole",
		job + "devices:\n  gpu: {count: 0.5}":   "line 6: devices.gpu.count: 0.5, want a whole",
		job + "---\nunit: step":                 "line 5: a second document",
		"# a comment\ncommand: [a, '{epochs}']": "line 2: epochs: 0",
	} {
		if _, err := Parse(strings.NewReader(text)); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n%v, want %s", text, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	s, err := Parse(strings.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := &Spec{
		Name: "lenet", Dir: "work", Command: []string{"./run.sh", "{lr}", "--batch={batch}", "{epochs}", "{hw}", "{scratch}/model"},
		Params: map[string]Scalar{"lr": "1e-3", "batch": "050"}, Env: map[string]Scalar{"OMP_NUM_THREADS": "2"}, Epochs: 250,
		Devices:  map[string]Device{"cpu": {Threads: 2}, "gpu": {Count: 1}},
		Sample:   Sample{Fractions: []float64{0.02, 0.04}, MinEpochs: []int{3, 6}, Repeats: 4, Budget: 0.1, Target: 0.02, Timeout: 90 * time.Second},
		Progress: Progress{Pattern: `Epoch (\d+)`},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for device, want := range map[string][]string{
		"cpu": {"./run.sh", "1e-3", "--batch=050", "5", "--cpu", "--numThreads", "2", "/tmp/x/model"},
		"gpu": {"./run.sh", "1e-3", "--batch=050", "5", "--gpu", "--numGPUs", "1", "/tmp/x/model"},
	} {
		got, err := s.Args(device, 5, Own{Scratch: "/tmp/x"})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", device, err, diff)
		}
	}
	shell := Spec{Command: []string{"sh", "-c", "echo ${epochs} {epochs}"}, Epochs: 1}
	if got, err := shell.Args("cpu", 5, Own{}); err != nil || got[2] != "echo ${epochs} 5" {
		t.Errorf("for the shell: %q, %v", got, err)
	}
	if _, err := s.Args("tpu", 5, Own{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("unknown device: %v", err)
	}
}

func TestParseJSONAndDefaults(t *testing.T) {
	s, err := Parse(strings.NewReader(`{"command": ["bin/train.py", "{epochs}"], "epochs": 10}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "train" || s.Device(CPU) != (Device{Threads: 1, Count: 1}) || len(s.Devices) != 1 {
		t.Errorf("got %+v", s)
	}
}

func TestParseErrors(t *testing.T) {
	for name, text := range map[string]string{
		"empty":              "",
		"not a map":          "[1]",
		"unknown field":      "command: [a, '{epochs}']\nepochs: 1\nepoch: 2",
		"no command":         "epochs: 1",
		"empty command":      "command: ['', '{epochs}']\nepochs: 1",
		"no epochs":          "command: [a, '{epochs}']",
		"negative epochs":    "command: [a, '{epochs}']\nepochs: -1",
		"length not in use":  "command: [a]\nepochs: 1",
		"hw inside a word":   "command: [a, '{epochs}', 'x{hw}']\nepochs: 1",
		"unknown parameter":  "command: [a, '{epochs}', '{lr}']\nepochs: 1",
		"unused parameter":   "command: [a, '{epochs}']\nepochs: 1\nparams: {lr: 1}",
		"reserved parameter": "command: [a, '{epochs}']\nepochs: 1\nparams: {epochs: 1}",
		"list parameter":     "command: [a, '{epochs}', '{lr}']\nepochs: 1\nparams: {lr: [1]}",
		"unknown device":     "command: [a, '{epochs}']\nepochs: 1\ndevices: {tpu: {}}",
		"negative threads":   "command: [a, '{epochs}']\nepochs: 1\ndevices: {cpu: {threads: -1}}",
		"pattern":            "command: [a, '{epochs}']\nepochs: 1\nprogress: {pattern: '('}",
		"fractions":          "command: [a, '{epochs}']\nepochs: 1\nsample: {fractions: [0.2, 0.1]}",
		"one fraction":       "command: [a, '{epochs}']\nepochs: 1\nsample: {fractions: [0.2]}",
		"min epochs":         "command: [a, '{epochs}']\nepochs: 1\nsample: {min_epochs: [5, 4]}",
		"budget":             "command: [a, '{epochs}']\nepochs: 1\nsample: {budget: 3}",
		"nan target":         "command: [a, '{epochs}']\nepochs: 1\nsample: {target: .nan}",
		"unit":               "command: [a, '{epochs}']\nepochs: 1\nunit: batch",
		"repeats":            "command: [a, '{epochs}']\nepochs: 1\nsample: {repeats: -1}",
	} {
		if _, err := Parse(strings.NewReader(text)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "job.yaml")
	if _, err := Load(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if err := os.WriteFile(path, []byte(whole), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil || s.WorkDir() != filepath.Join(filepath.Dir(path), "work") {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestHash(t *testing.T) {
	parse := func(text string) *Spec {
		t.Helper()
		s, err := Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := parse(whole)
	// Journals that people have are keyed by these.
	if s.Hash(CPU) != "a7f0ba33683c8c2b" || s.Hash(GPU) != "50101d96634fea28" {
		t.Errorf("hashes %s, %s", s.Hash(CPU), s.Hash(GPU))
	}
	if s.Hash(CPU) == s.Hash(GPU) {
		t.Error("the same on both devices")
	}
	same := parse(strings.NewReplacer("epochs: 250", "epochs: 300", "budget: 0.1", "budget: 0.2", "count: 1", "count: 4").Replace(whole))
	if s.Hash(CPU) != same.Hash(CPU) {
		t.Error("length, sampling or the other device changed the hash")
	}
	for _, change := range [][2]string{{"lr: 1e-3", "lr: 2e-3"}, {"threads: 2", "threads: 1"}, {"run.sh", "run2.sh"}, {"THREADS: 2", "THREADS: 1"}, {"Epoch (", "epoch ("}} {
		if s.Hash(CPU) == parse(strings.Replace(whole, change[0], change[1], 1)).Hash(CPU) {
			t.Errorf("%s did not change the hash", change[1])
		}
	}
}

func TestLengths(t *testing.T) {
	for _, tt := range []struct{ epochs, short, long int }{
		{1, 1, 1}, {2, 2, 2}, {3, 2, 3}, {100, 2, 5}, {250, 2, 5}, {400, 4, 8}, {500, 5, 10}, {30000, 300, 600},
	} {
		s := Spec{Epochs: tt.epochs}
		if short, long := s.Lengths(); short != tt.short || long != tt.long {
			t.Errorf("%d epochs: %d and %d, want %d and %d", tt.epochs, short, long, tt.short, tt.long)
		}
	}
}

// Steps are sampled twenty and fifty at a time at least; where a file of before says
// how many come from mark to mark, two and five times those.
func TestStepLengths(t *testing.T) {
	for _, tt := range []struct {
		spec        Spec
		short, long int
	}{
		{Spec{Epochs: 10}, 2, 5},
		{Spec{Epochs: 100, Unit: Step}, 20, 50},
		{Spec{Epochs: 30000, Unit: Step}, 300, 600},
	} {
		if short, long := tt.spec.Lengths(); short != tt.short || long != tt.long {
			t.Errorf("%+v: %d and %d, want %d and %d", tt.spec, short, long, tt.short, tt.long)
		}
	}
}

// TestSetDevice checks that an entry of a device leaves its other entries as they are.
func TestSetDevice(t *testing.T) {
	s := &Spec{Devices: map[string]Device{CPU: {Threads: 4, Count: 3}, GPU: {Count: 2}}}
	for _, text := range []string{"devices.cpu.threads=1", "devices.gpu.threads=5"} {
		if err := s.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]Device{CPU: {Threads: 1, Count: 3}, GPU: {Threads: 5, Count: 2}}
	if diff := cmp.Diff(want, s.Devices); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
	if err := s.Set("devices.cpu.thread=1"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "devices.cpu.thread: no such entry") {
		t.Errorf("an unknown entry: %v", err)
	}
}

func TestSet(t *testing.T) {
	s := &Spec{Command: []string{"a", "{epochs}", "{count}"}}
	for _, text := range []string{"epochs=1e2", "name=b", "dir=c", "count=0.5", "lr=0.1", "sample.budget=0.05", "sample.timeout=10s", "progress.pattern=e(\\d+): x", "devices.cpu.threads=4"} {
		if err := s.Set(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if s.Params["lr"] != "0.1" || s.Sample.Budget != 0.05 || s.Sample.Timeout != 10*time.Second || s.Progress.Pattern != `e(\d+): x` || s.Devices[CPU].Threads != 4 {
		t.Errorf("%+v", s)
	}
	if s.Epochs != 100 || s.Name != "b" || s.Dir != "c" || s.Params["count"] != "0.5" {
		t.Errorf("%+v", s)
	}
	for text, want := range map[string]string{"epochs=7.9": "want a whole number", "command=b": "the value has the wrong type", "lr": "want NAME=VALUE", "=1": "want NAME=VALUE", "run.log=1": "run.log: no such entry", "sample.budget=much": "the value has the wrong type"} {
		if err := s.Set(text); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
