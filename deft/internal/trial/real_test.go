package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
	"github.com/foretime/foretime/deft/simcuda"
)

// built is the folder of this test run's products; see TestMain.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "deft-trial-")
	if err != nil {
		panic(err)
	}
	built = dir
	keep := simcudatest.Products(dir, time.Now())
	code := m.Run()
	keep()
	os.RemoveAll(dir)
	os.Exit(code)
}

// simulatedMachine builds hook and simulated device.
func simulatedMachine(t *testing.T, x *experiment.Experiment) Machine {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs cc: install with apt-get install gcc")
	}
	c := built
	lib, err := hook.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	device, err := simcuda.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	m := SimulatedMachine(x, lib, device, t.TempDir(), os.Environ())
	m.Place = place(t)
	return m
}

// place returns the place of a session of its own.
func place(t testing.TB) daemon.Place {
	t.Helper()
	memory := "/dev/shm" // as for users: a file system on a disk delays writers of a mapped file
	if _, err := os.Stat(memory); err != nil {
		memory = ""
	}
	dir, err := os.MkdirTemp(memory, "d") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
			t.Errorf("the run left %v", left)
		}
		os.RemoveAll(dir)
	})
	at, err := daemon.NewPlace(dir, "run")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func into(t *testing.T, x *experiment.Experiment) string {
	t.Helper()
	dir := t.TempDir()
	if err := x.SetOutputDir(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

const short = `{"models": [
	{"model_name": "A", "kernels": 40, "kernel_ns": 20000, "output_file_name": "A"},
	{"model_name": "B", "kernels": 10, "kernel_ns": 20000, "output_file_name": "B", "priority": 1, "sleep_time": 0.005}
], "exp_dur": 0.2, "min_jobs": 12}`

// Whole runs on the simulated device, under every policy: every launch of every
// job is counted, the warm-up left out, and the files are there.
func TestRealOnSimulatedDevice(t *testing.T) {
	for _, name := range []string{"none", "priority", "sync", "fair", "edf"} {
		t.Run(name, func(t *testing.T) {
			x := parse(t, short)
			x.Policy = name
			dir := into(t, x)
			o, err := Real(t.Context(), x, simulatedMachine(t, x))
			if err != nil {
				t.Fatal(err)
			}
			for i, perJob := range []int{40, 10} {
				m := o.Run.Models[i]
				if m.Jobs < 12 || m.Launches != m.Jobs*perJob || m.GPUMS != float64(m.Launches)/50 {
					t.Errorf("%s: %d jobs, %d launches, %v ms of device time", m.Output, m.Jobs, m.Launches, m.GPUMS)
				}
			}
			low := o.Run.Models[0]
			if name == "priority" && (low.StallMS <= 0 || low.Syncs > 0) {
				t.Errorf("%v ms of waits for the bound in flight, %d synchronization points", low.StallMS, low.Syncs)
			}
			if name == "none" && low.Syncs+o.Run.Models[1].Syncs != 0 {
				t.Error("synchronization points without a policy")
			}
			if err := o.Save(); err != nil {
				t.Fatal(err)
			}
			var pids [][2]any
			text, err := os.ReadFile(filepath.Join(dir, "models_pid.json"))
			if err != nil || json.Unmarshal(text, &pids) != nil || pids[1][0] != "B_batch_1_sleep_0.005" || pids[1][1].(float64) < 2 {
				t.Errorf("%s %v", text, err)
			}
			for _, file := range []string{"A.csv", "B.csv", "A.log", "B.log", "run.json"} {
				if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// shell is a machine whose models are shell scripts by the model's name.
func shell(t *testing.T, scripts map[string]string) Machine {
	return Machine{Place: place(t), Device: "sim", Hook: "", Environ: os.Environ(), Program: func(m *experiment.Model, _ *experiment.Experiment) (Program, error) {
		return Program{Path: "/bin/sh", Args: []string{"-c", scripts[m.ModelName]}}, nil
	}}
}

const pairOfScripts = `{"models": [{"model_name": "good"}, {"model_name": "bad"}], "exp_dur": 1}`

// good is a model that would run for ever.
const good = `echo model loaded; read line; while :; do sleep 1; done`

func TestRealFails(t *testing.T) {
	tests := []struct {
		name, bad string
		load      time.Duration
		want      error
		text      string
	}{
		{"dies while loading", "echo no such weights >&2; exit 3", 0, ErrDied, "bad: the process ended: exit status 3; last lines of "},
		{"says why", "echo no such weights >&2; echo no such file >&2; exit 3", 0, ErrDied, "bad.log: no such weights; no such file"},
		{"ends before the barrier", "exit 0", 0, ErrDied, "bad: the process ended before its model was loaded; it wrote nothing to"},
		{"never loads", "exec sleep 1000", time.Millisecond, ErrLoad, "1ms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := parse(t, pairOfScripts)
			dir := into(t, x)
			machine := shell(t, map[string]string{"good": "echo $$ > " + filepath.Join(dir, "pid") + "; " + good, "bad": tt.bad})
			machine.Load = tt.load
			_, err := Real(t.Context(), x, machine)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want %s", err, tt.text)
			}
			gone(t, filepath.Join(dir, "pid"))
		})
	}
}

// A process that dies after the barrier ends nobody else: they do all their jobs,
// and the outcome is theirs, beside an error that names the dead one.
func TestTheOthersGoOn(t *testing.T) {
	for _, tt := range []struct{ name, bad, text string }{
		{"fails", "echo model loaded; read line; echo out of memory; exit 1", "out of memory"},
		{"is killed", "echo model loaded; read line; kill -9 $$", "signal: killed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := parse(t, pairOfScripts)
			dir := into(t, x)
			const header = "start_timestamp_ns,end_timestamp_ns,jct_ms,max_allocated_gpu_memory_allocated_byte,max_reserved_gpu_memory_byte"
			jobs := "echo model loaded; read line; printf '" + header + `\n1,2,1,0,0\n3,5,2,0,0\n6,9,3,0,0\n' > ` + filepath.Join(dir, "good.csv")
			o, err := Real(t.Context(), x, shell(t, map[string]string{"good": jobs, "bad": tt.bad}))
			if !errors.Is(err, ErrDied) || !strings.Contains(err.Error(), "bad: ") || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want %s", err, tt.text)
			}
			if o == nil || len(o.Run.Models) != 1 || o.Run.Models[0].Output != "good" || o.Run.Models[0].Jobs != 2 {
				t.Fatalf("outcome %+v", o)
			}
			if err := o.Save(); err != nil {
				t.Error(err)
			}
		})
	}
}

// gone checks that the process whose id is in a file is no more. A process that
// was ended before it wrote its id is gone too.
func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || len(strings.TrimSpace(string(text))) == 0 {
		return
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); alive(pid); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > time.Minute { // a signal takes its time to arrive
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// alive says whether a process runs; one that has ended and was not waited for
// does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// A run that is interrupted ends its processes, and those that they started,
// also where they ignore SIGTERM.
func TestRealInterrupted(t *testing.T) {
	x := parse(t, `{"models": [{"model_name": "good"}], "exp_dur": 1}`)
	dir := into(t, x)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	child := filepath.Join(dir, "child")
	machine := shell(t, map[string]string{"good": "trap '' TERM; echo model loaded; read line; sleep 1000 & echo $! > " + child + ".part; mv " + child + ".part " + child + "; wait"})
	go func() {
		for {
			if _, err := os.Stat(child); err == nil {
				cancel()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if _, err := Real(ctx, x, machine); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	gone(t, child)
}

func TestRealRefuses(t *testing.T) {
	x := parse(t, `{"models": [{"model_name": "x", "kernels": 1, "kernel_ns": 1}], "exp_dur": 1, "policy": "chance"}`)
	if _, err := Real(t.Context(), x, Machine{Place: place(t)}); err == nil {
		t.Error("no error")
	}
	x.Policy = "none"
	into(t, x)
	missing := Machine{Place: place(t), Program: func(*experiment.Model, *experiment.Experiment) (Program, error) {
		return Program{Path: filepath.Join(t.TempDir(), "absent")}, nil
	}}
	if _, err := Real(t.Context(), x, missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestNames(t *testing.T) {
	x := &experiment.Experiment{Models: []experiment.Model{
		{OutputName: "a"}, {OutputName: "a"}, {OutputName: strings.Repeat("long", 9)},
	}}
	if got := sessionNames(x); got[0] != "a" || got[1] != "model 1" || got[2] != "model 2" {
		t.Error(got)
	}
}

// The entry that the client of a GPU reads holds what Deft's holds.
func TestCUDAProgram(t *testing.T) {
	x := parse(t, table)
	x.Duration, x.DeviceID = 1500*time.Millisecond, 2
	dir := into(t, x)
	p, err := CUDA("", "python3", "run_model.py", dir, nil).Program(&x.Models[0], x)
	if err != nil {
		t.Fatal(err)
	}
	entry := filepath.Join(dir, "low.json")
	if got := strings.Join(p.Args, " "); got != "run_model.py "+entry+" 2 1.5 --sync-model-load --min-jobs 10" {
		t.Error(got)
	}
	text, err := os.ReadFile(entry)
	if err != nil || !strings.Contains(string(text), `"resize_size":[720,1280]`) || !strings.Contains(string(text), `"model_name":"fasterrcnn_resnet50_fpn"`) {
		t.Errorf("%s %v", text, err)
	}
}

func TestBarrierLine(t *testing.T) {
	var b strings.Builder
	l := &lines{out: &b, seen: make(chan struct{})}
	for _, piece := range []string{"model lo", "ading\nmodel", " loaded", "\nmodel loaded\n"} {
		select {
		case <-l.seen:
			t.Fatal("seen too early")
		default:
		}
		if _, err := l.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	<-l.seen
	if b.String() != "model loading\nmodel loaded\nmodel loaded\n" {
		t.Error(b.String())
	}
}
