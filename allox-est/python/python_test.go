package python

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/timing"
)

// python runs a program with time_writter.py on its path and returns its stdout.
func python(t *testing.T, program, stdin string) string {
	t.Helper()
	exe, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3: install with apt-get install python3")
	}
	cmd := exec.Command(exe, "-B", "-c", program)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return string(out)
}

// TestRealWriter: what the Python module prints, the Go parser reads.
func TestRealWriter(t *testing.T) {
	out := python(t, `
import itertools, random
import time_writter as tw
random.seed(1)
try:
    tw.LogUpdate()
    raise SystemExit("LogUpdate before Start was taken")
except tw.NotStarted:
    pass
assert tw.GetResults() == "<TIME_WRITTER_OUTPUT>[]</TIME_WRITTER_OUTPUT>"
now, clock = 0.0, []
for _ in range(2000):
    now += random.expovariate(1) * 10 ** random.randint(-8, 6)
    clock.append(now)
it = iter(clock)
tw._writter = tw.TimeWritter(lambda: next(it))
tw.Start()
for i in range(1999):
    tw.LogUpdate()
    if i % 100 == 0:
        tw.PrintResults()
tw.PrintResults()
print("laps", [b - a for a, b in zip(clock, clock[1:])])
tw.Reset()
assert tw.GetResults() == "<TIME_WRITTER_OUTPUT>[]</TIME_WRITTER_OUTPUT>"
`, "")
	out, list, _ := strings.Cut(out, "laps ")
	var want []float64
	if err := json.Unmarshal([]byte(list), &want); err != nil {
		t.Fatal(err)
	}
	got, err := timing.ParseOutput(strings.NewReader(out), timing.Extend)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Laps(), want) || len(want) != 1999 {
		t.Error("laps differ")
	}
	if text := timing.OpenTag + string(timing.AppendReprList(nil, want)) + timing.CloseTag; !strings.Contains(out, text) {
		t.Error("the same laps print differently")
	}
}

// The callbacks make set-up, epochs (or steps) and teardown of the frameworks'
// training loops. The frameworks are stand-ins here: base classes with the documented names, called in the
// documented order.
func TestRealCallbacks(t *testing.T) {
	const stand = `
import sys, types, time
def module(name, **names):
    m = types.ModuleType(name)
    m.__dict__.update(names)
    sys.modules[name] = m
class Base: pass
module("transformers", TrainerCallback=Base)
module("lightning")
module("lightning.pytorch", Callback=Base)
module("keras")
module("keras.callbacks", Callback=Base)
import time_writter_callbacks as cb
`
	loops := map[string]string{
		"hugging_face": `
for epoch in range(4):
    c.on_epoch_begin(0, 0, 0)
    for step in range(3):
        c.on_step_begin(0, 0, 0); time.sleep(0.001)
c.on_train_end(0, 0, 0)
`,
		"lightning": `
for epoch in range(4):
    c.on_train_epoch_start(0, 0)
    for step in range(3):
        c.on_train_batch_start(0, 0, 0, step); time.sleep(0.001)
c.on_train_end(0, 0)
`,
		"keras": `
for epoch in range(4):
    c.on_epoch_begin(epoch)
    for step in range(3):
        c.on_train_batch_begin(step); time.sleep(0.001)
c.on_train_end()
`,
	}
	for name, loop := range loops {
		for unit, laps := range map[string]int{"epoch": 4, "step": 12} {
			out := python(t, stand+"c = cb."+name+`(unit="`+unit+`")`+loop, "")
			got, err := timing.ParseOutput(strings.NewReader(out), timing.Extend)
			if err != nil || got.Len() != laps+2 {
				t.Errorf("%s by %s: %v laps, %v in %s", name, unit, got, err, out)
			}
		}
	}
	if out := python(t, "import os; os.environ['RANK'] = '1'"+stand+"c = cb.keras()"+loops["keras"], ""); out != "" {
		t.Errorf("the second process prints %s", out)
	}
}

// The same within the frameworks themselves: set-up, epochs or steps, teardown.
func TestRealFrameworks(t *testing.T) {
	for name, wheels := range map[string]string{
		"hugging_face": "transformers tokenizers safetensors huggingface-hub accelerate",
		"lightning":    "pytorch-lightning lightning-utilities torchmetrics typing-extensions",
		"keras":        "keras jax jaxlib namex optree ml-dtypes opt-einsum absl-py rich markdown-it-py mdurl pygments typing-extensions",
	} {
		path := pythonPath(t, wheels)
		for unit, laps := range map[string]int{"epoch": 4, "step": 16} {
			t.Run(name+" by "+unit, func(t *testing.T) {
				cmd := exec.Command("/usr/bin/python3", "-B", filepath.Join("testdata", name+"_fit.py"), unit)
				cmd.Env = append(os.Environ(), "PYTHONPATH="+path)
				out, err := cmd.Output()
				if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
					t.Fatalf("%v: %s", err, exit.Stderr)
				} else if err != nil {
					t.Fatal(err)
				}
				got, err := timing.ParseOutput(bytes.NewReader(out), timing.Extend)
				if err != nil || got.Len() != laps+2 {
					t.Fatalf("%v laps, %v in %s", got, err, out)
				}
			})
		}
	}
}

// pythonPath is where wheels of real.txt and time_writter_callbacks are; the test is
// skipped by name where a component is absent.
func pythonPath(t *testing.T, wheels string) string {
	t.Helper()
	if err := exec.Command("/usr/bin/python3", "-c", "import torch, h5py, tqdm").Run(); err != nil {
		t.Skipf("needs torch, h5py and tqdm of /usr/bin/python3: %v", err)
	}
	folders := []string{"."}
	for _, wheel := range strings.Fields(wheels) {
		found, err := filepath.Glob(filepath.Join("..", "..", "out", "real", "pip", wheel+"==*"))
		if err != nil || len(found) == 0 {
			t.Skipf("needs the wheel %s in out/real/pip", wheel)
		}
		folders = append(folders, found...)
	}
	for i, folder := range folders {
		var err error
		if folders[i], err = filepath.Abs(folder); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(folders, ":")
}

// TestRealParser: both parsers agree on every log.
func TestRealParser(t *testing.T) {
	const o, c = timing.OpenTag, timing.CloseTag
	logs := []string{
		o + "[13.973396399989724, 8.200004231184721e-06, 2.094237900004373]" + c,
		"", "noise", o + "[]" + c, o + "[1,2,3]" + c, o + "[1.0,\n 2.0]" + c, o + " [ 1.0 ] " + c,
		o + "[1.0]" + c + o + "[1.0, 2.0]" + c, o + "[1.0, 2.0]" + c + o + "[1.0]" + c, o + "[1.0]" + c + o + "[2.0]" + c,
		o + "[1.0, 2.", o + "[1.0]" + c + o + "[1.0, 2.", o + "[1.0, 2." + o + "[1.0, 2.5]" + c, o + "[1.0, " + o + "[2.0]" + c + "]" + c,
		c + "[1.0]" + o, o + "[1.0" + c, o + "1.0]" + c, o + "[1.0,]" + c, o + c, o + "[nan]" + c, o + "[inf]" + c, o + "[1e999]" + c,
		o + "[-1.0]" + c, o + "[-0.0]" + c, o + "[1_0]" + c, o + "[0x1]" + c, o + "[2.]" + c, o + "[.5]" + c, o + "[007]" + c, o + "[+1]" + c,
		o + "[1.0 2.0]" + c, o + "[1.0][2.0]" + c, o + "[1.0, log line\n 2.0]" + c, o + "[nan]" + c + o + "[1.0]" + c, o + "[1e-05, 2E3]" + c,
	}
	in, err := json.Marshal(logs)
	if err != nil {
		t.Fatal(err)
	}
	out := python(t, `
import json, sys
import time_writter as tw
for log in json.load(sys.stdin):
    try:
        laps = tw.parse_output(log)
        assert tw.parse_output(log.encode()) == laps
        print(json.dumps(laps))
    except tw.BadOutput:
        print("null")
`, string(in))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != len(logs) {
		t.Fatalf("%d answers for %d logs", len(lines), len(logs))
	}
	for i, log := range logs {
		var want []float64
		if err := json.Unmarshal([]byte(lines[i]), &want); err != nil {
			t.Fatal(err)
		}
		got, err := timing.ParseOutput(strings.NewReader(log), timing.Extend)
		if place := (*timing.ParseError)(nil); err != nil && !errors.As(err, &place) {
			t.Fatal(err)
		}
		if (err == nil) != (want != nil) || err == nil && !slices.Equal(got.Laps(), want) {
			t.Errorf("%q: Go %v, Python %s", log, err, lines[i])
		}
	}
}
