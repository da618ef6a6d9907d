package experiment

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/policy"
)

var update = flag.Bool("update", false, "write the golden files")

// one wraps a model's fields into an experiment.
func one(fields string) string {
	return `{"models": [{"model_name": "m", ` + fields + `}], "exp_dur": 1}`
}

func TestLoadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			x, err := Load(file)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, m := range x.Models {
				b.WriteString(m.Name() + " " + filepath.ToSlash(m.CSV()) + "\n")
			}
			for _, w := range x.Warnings {
				b.WriteString(w.Error() + "\n")
			}
			golden := strings.TrimSuffix(file, ".json") + ".stdout"
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseEveryField(t *testing.T) {
	x, err := Parse("x.json", []byte(`{
		"models": [{
			"model_name": "retinanet", "model_weight": "W", "sleep_time": 0.5, "input_file_path": "a.png",
			"output_file_path": "logs", "output_file_name": "A", "priority": 2, "resize": true, "resize_size": [720, 1280.0],
			"batch_size": 4, "sync_level": "layer", "python_path": "py", "repo_path": "repo",
			"control": {"control": true, "controlsync": true, "controlEvent": false, "queue_limit": {"sync": 8, "event_group": 3}},
			"weight": 2, "deadline_ms": 12.5, "kernels": 2, "kernel_ns": [100, 250], "graph": 2, "launch_ns": 3000, "period_ms": 50, "start_ms": 4
		}],
		"exp_dur": 1.5, "device_id": 1, "policy": "fair", "min_jobs": 2, "seed": 7, "jitter": 0.1,
		"discipline": "turns", "slice_ms": 2, "sync_ns": 9000, "reaction_ns": 50
	}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Experiment{
		Models: []Model{{
			ModelName: "retinanet", ModelWeight: "W", SleepTime: 500 * time.Millisecond, InputFile: "a.png",
			OutputDir: "logs", OutputName: "A", Resize: true, Height: 720, Width: 1280,
			BatchSize: 4, SyncLevel: "layer", PythonPath: "py", RepoPath: "repo",
			Terms: policy.Terms{
				Name: "A", Priority: 2, Weight: 2, Deadline: 12500 * time.Microsecond,
			},
			Control: Control{On: true, Sync: true, SyncEvery: 8},
			Kernels: 2, KernelTimes: []time.Duration{100, 250},
			Graph: 2, LaunchCost: 3000, Period: 50 * time.Millisecond, Start: 4 * time.Millisecond,
		}},
		Duration: 1500 * time.Millisecond, DeviceID: 1, Policy: "fair", MinJobs: 2, Seed: 7, Jitter: 0.1,
		Device: device.Settings{Discipline: device.Turns, Turn: 2 * time.Millisecond}, SyncCost: 9000, Reaction: 50,
	}
	if diff := cmp.Diff(want, x); diff != "" {
		t.Error(diff)
	}
	if got := x.Models[0].Log(); got != filepath.Join("logs", "A.log") {
		t.Error(got)
	}
}

// Every field of the original's control takes effect: without a policy in the file, the
// models with control are under priority and the others are exempt.
func TestControl(t *testing.T) {
	model := func(name, control string) string {
		return fmt.Sprintf(`{"model_name": %q, "kernels": 1, "kernel_ns": 1, "control": {%s, "queue_limit": {"sync": 8, "event_group": 3}}}`, name, control)
	}
	all := []string{
		model("off", `"control": false, "controlsync": true, "controlEvent": true`),
		model("gate", `"control": true, "controlsync": false, "controlEvent": false`),
		model("sync", `"control": true, "controlsync": true, "controlEvent": false`),
		model("event", `"control": true, "controlsync": false, "controlEvent": true`),
		model("both", `"control": true, "controlsync": true, "controlEvent": true`),
	}
	tests := []struct {
		models      []string
		named, want string
		exempt      []bool
		intervals   []int
	}{
		{all[:1], "", "none", []bool{true}, []int{0}},
		{all, "", "priority", []bool{true, false, false, false, false}, []int{0, 0, 8, 0, 8}},
		{all, "fair", "fair", make([]bool, 5), []int{8, 8, 8, 8, 8}},
	}
	for _, tt := range tests {
		x, err := Parse("x.json", []byte(`{"models": [`+strings.Join(tt.models, ",")+`], "exp_dur": 1}`))
		if err != nil {
			t.Fatal(err)
		}
		x.Policy = tt.named
		if got := x.PolicyName(); got != tt.want {
			t.Errorf("policy %q, want %q", got, tt.want)
		}
		for i := range x.Models {
			want := x.Models[i].Terms
			want.Exempt, want.Interval = tt.exempt[i], tt.intervals[i]
			if diff := cmp.Diff(want, x.Terms(i)); diff != "" {
				t.Errorf("policy %q, model %s: %s", tt.named, x.Models[i].OutputName, diff)
			}
		}
	}
}

func TestInto(t *testing.T) {
	x := &Experiment{Models: []Model{{OutputDir: "a", OutputName: "x"}, {OutputDir: "b", OutputName: "y"}}}
	if err := x.SetOutputDir("c"); err != nil || x.Models[1].CSV() != filepath.Join("c", "y.csv") {
		t.Error(err, x.Models)
	}
	x.Models[1].OutputName = "x"
	if err := x.SetOutputDir("c"); err == nil {
		t.Error("no error")
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "x.json:1: neither JSON nor YAML: the file is empty"},
		{"cut off", "{\n\"models\": [\n", "x.json:2: neither JSON nor YAML"},
		{"not JSON", "{\n  models 1", "x.json:2: neither JSON nor YAML"},
		{"two commas", "{\"exp_dur\": 1,\n,}", "x.json:1: neither JSON nor YAML"},
		{"comma alone", `{"models": [,], "exp_dur": 1}`, "x.json:1: neither JSON nor YAML"},
		{"two texts", one(`"priority": 0`) + "\n{}", "x.json:1: neither JSON nor YAML"},
		{"two documents", one(`"priority": 0`) + "\n---\n{}", "x.json:2: neither JSON nor YAML: more text after the end"},
		{"alias", "{\"models\": &a [],\n\"exp_dur\": *a}", "x.json:2: aliases (*) and merges (<<) of YAML are not read: write the value out instead of \"a\""},
		{"merge", "exp_dur: 1\nmodels:\n- &a {model_name: m, priority: 1}\n- <<: *a\n  model_name: n\n", "x.json:4: aliases"},
		{"merge of a whole value", "exp_dur: 1\n<<: {seed: 1}\nmodels: [{model_name: m}]\n", "x.json:2: aliases"},
		{"no number", `{"models": [], "exp_dur": .nan}`, "exp_dur: want a number of 0 or more, have .nan"},
		{"an array", "[]", "x.json:1: want an object, have an empty array"},
		{"no models", `{"exp_dur": 1}`, "models: missing"},
		{"null models", `{"exp_dur": 1, "models": null}`, "models: missing"},
		{"empty models", `{"exp_dur": 1, "models": []}`, "models: want an array of one model or more, have an empty array"},
		{"no duration", `{"models": [{"model_name": "m"}]}`, "exp_dur: missing"},
		{"zero duration", `{"models": [{"model_name": "m"}], "exp_dur": 0}`, "exp_dur: want a duration above 0 s, have 0"},
		{"long duration", `{"models": [{"model_name": "m"}], "exp_dur": 1e12}`, "exp_dur: 1e12 is too long"},
		{"no name", `{"models": [{}], "exp_dur": 1}`, "models[0].model_name: missing"},
		{"empty name", `{"models": [{"model_name": ""}], "exp_dur": 1}`, "models[0].model_name: want the name"},
		{"model as text", `{"models": ["m"], "exp_dur": 1}`, `models[0]: want an object, have "m"`},
		{"second line", "{\"models\": [{\"model_name\": \"m\",\n\"priority\": \"high\"}], \"exp_dur\": 1}", `x.json:2: models[0].priority: want a whole number of 0 or more, have "high"`},
		{"negative priority", one(`"priority": -1`), "models[0].priority: want a whole number of 0 or more, have -1"},
		{"half a priority", one(`"priority": 0.5`), "have 0.5"},
		{"negative sleep", one(`"sleep_time": -1`), "models[0].sleep_time: want a number of 0 or more, have -1"},
		{"huge sleep", one(`"sleep_time": 1e999`), "models[0].sleep_time"},
		{"resize without size", one(`"resize": true`), "models[0].resize_size: missing"},
		{"resize as number", one(`"resize": 1`), "models[0].resize: want true or false, have 1"},
		{"one side", one(`"resize_size": [5]`), "models[0].resize_size: want [height, width]"},
		{"zero side", one(`"resize_size": [5, 0]`), "models[0].resize_size[1]: want a whole number of 1 or more, have 0"},
		{"batch 0", one(`"batch_size": 0`), "models[0].batch_size"},
		{"sync as text", one(`"control": {"queue_limit": {"sync": "1"}}`), `models[0].control.queue_limit.sync: want a whole number of 0 or more, have "1"`},
		{"control as flag", one(`"control": true`), "models[0].control: want an object, have true"},
		{"sync level", one(`"sync_level": "op"`), "models[0].sync_level"},
		{"weight 0", one(`"weight": 0`), "models[0].weight: want a weight above 0"},
		{"weight beyond reason", one(`"weight": 1e300`), "models[0].weight: want at most 9e+15, have 1e300"},
		{"priority beyond reason", one(`"priority": 3000000000`), "models[0].priority: want at most 2147483647, have 3000000000"},
		{"slack 0", `{"models": [{"model_name": "m"}], "exp_dur": 1, "slack": 0}`, "slack: want a number above 1, at most 100, have 0"},
		{"slack beyond reason", `{"models": [{"model_name": "m"}], "exp_dur": 1, "slack": 1000}`, "slack: want a number above 1, at most 100, have 1000"},
		{"discipline", `{"models": [{"model_name": "m"}], "exp_dur": 1, "discipline": "lifo"}`, "discipline: want"},
		{"kernels without times", one(`"kernels": 4`), "models[0].kernel_ns: missing"},
		{"times without kernels", one(`"kernel_ns": 4`), "models[0].kernels: missing"},
		{"times of other number", one(`"kernels": 3, "kernel_ns": [1, 2]`), "models[0].kernel_ns: 2 times for 3 kernels"},
		{"no times", one(`"kernel_ns": []`), "models[0].kernel_ns: 0 times for 0 kernels"},
		{"no time", "{\"exp_dur\": 1, \"models\": [{\"model_name\": \"m\", \"kernels\": 2,\n\"kernel_ns\": [1, 0]}]}", "x.json:2: models[0].kernel_ns[1]: want a time of 1 ns or more, have 0"},
		{"too many kernels", one(`"kernels": 2000000, "kernel_ns": 1`), "models[0].kernels: more than"},
		{"path as stem", one(`"output_file_name": "../a"`), "models[0].output_file_name: want the stem"},
		{"deep", strings.Repeat("[", 20000), "neither JSON nor YAML"},
		{"same log", `{"models": [{"model_name": "m"},` + "\n" + `{"model_name": "m"}], "exp_dur": 1}`, "x.json:2: models[1].output_file_name: m.csv is also the log of models[0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("x.json", []byte(tt.text))
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestParseWarns(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown", one(`"colour": 1`), "x.json:1: models[0].colour: unknown field, ignored"},
		{"twice", one(`"priority": 1, "priority": 0`), "x.json:1: models[0].priority: given twice; the last value is used"},
		{"event", one(`"control": {"control": true, "controlEvent": true}`), "x.json:1: models[0].control: controlEvent is ignored: controlsync or the policy bounds the queue"},
		{"no sync", one(`"control": {"control": true, "controlsync": true}`), "x.json:1: models[0].control: controlsync without a queue_limit.sync above 0: the policy chooses the bound"},
		{"byte order mark", "\ufeff" + one(`"colour": ",}"`), "x.json:1: models[0].colour: unknown field, ignored"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x, err := Parse("x.json", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if len(x.Warnings) != 1 || x.Warnings[0].Error() != tt.want {
				t.Errorf("warnings %v, want %s", x.Warnings, tt.want)
			}
		})
	}
}

// Whatever the text, Parse returns an experiment that can be run or an error
// with a line of the text.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(one(`"kernels": 2, "kernel_ns": [1, 2,], "output_file_name": "a\",]"`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		x, err := Parse("x", text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Line > 1+strings.Count(string(text), "\n") {
				t.Fatalf("error %v without a place in the text", err)
			}
			return
		}
		if x.Duration <= 0 || x.MinJobs < 1 || len(x.Models) == 0 {
			t.Fatalf("nothing to run: %+v", x)
		}
		for _, m := range x.Models {
			if m.ModelName == "" || m.BatchSize < 1 || m.Weight <= 0 || m.Kernels != len(m.KernelTimes) || m.SleepTime < 0 {
				t.Fatalf("model %+v", m)
			}
		}
	})
}
