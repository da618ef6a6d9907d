package simcuda_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
	"github.com/foretime/foretime/deft/simcuda"
)

func needCompiler(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs cc: install with apt-get install gcc libc6-dev")
	}
}

// cache holds what the tests of this package compile, once.
var cache string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "simcuda-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	cache = dir
	keep := simcudatest.Products(dir, time.Now())
	status := m.Run()
	keep()
	os.RemoveAll(dir)
	os.Exit(status)
}

// bench is a device and the programs to use it with.
type bench struct {
	simcuda.Built
	simcudatest.Clients
	simcuda.Device
	counts, fault string // SIMCUDA_COUNTS, SIMCUDA_FAULT
	t             testing.TB
}

func newBench(t testing.TB, extra ...string) bench {
	t.Helper()
	needCompiler(t)
	b := bench{t: t}
	var err error
	if b.Built, err = simcuda.Build(context.Background(), cache, extra...); err != nil {
		t.Fatal(err)
	}
	if b.Clients, err = simcudatest.BuildClients(context.Background(), cache, b.Built, extra...); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	b.counts = filepath.Join(dir, "counts")
	b.Device = simcuda.Device{File: filepath.Join(dir, "device"), More: []string{"SIMCUDA_COUNTS=" + b.counts}}
	return b
}

// patience is how long a process may take that must not hang: nothing is
// measured with it.
const patience = 2 * time.Minute

func (b bench) command(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	b.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), b.Env(b.Built)...)
	cmd.Env = append(cmd.Env, "SIMCUDA_FAULT="+b.fault)
	return cmd
}

func (b bench) mustRun(name string, args ...string) string {
	b.t.Helper()
	cmd := b.command(name, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("%s %q: %v\n%s", filepath.Base(name), args, err, out)
	}
	return string(out)
}

// ways are the client's ways with the launches that it and its children make.
func ways(plugin string) map[string]int {
	launches := map[string]int{"copies": 0, "memory": 0, "capture": 40, "fork": 20, "threads": 40, "graph": 20}
	for _, way := range []string{"v2", "ptds", "v1", "double", "dlsym", "ex", "coop", "events", "hostfunc"} {
		launches[way] = 10
	}
	for _, way := range []string{"local", "local-dlsym", "deepbind", "deepbind-dlsym"} {
		launches[way+" "+plugin] = 10
	}
	return launches
}

func (b bench) run(way string) {
	b.t.Helper()
	os.Remove(b.counts)
	name, file, _ := strings.Cut(way, " ")
	args := []string{name, "10"}
	if file != "" {
		args = append(args, file)
	}
	b.mustRun(b.Client, args...)
}

func TestEveryWay(t *testing.T) {
	b := newBench(t)
	for way, want := range ways(b.Plugin) {
		b.run(way)
		counts, err := simcudatest.ReadCounts(b.counts)
		got := 0
		for _, c := range counts {
			got += int(c.Launches)
		}
		if err != nil || got != want {
			t.Errorf("%s: the driver saw %d launches (%v), want %d", way, got, err, want)
		}
	}
	if out := b.mustRun(b.Direct, "10"); out != "launches 10\n" {
		t.Errorf("direct: %q", out)
	}
}

func TestChildOfAnInitialisedParent(t *testing.T) {
	b := newBench(t)
	if out, err := b.command(b.Client, "fork-late", "3").CombinedOutput(); err == nil || !bytes.Contains(out, []byte("driver error 3")) {
		t.Errorf("a forked child could use the driver: %v %s", err, out)
	}
	b.More = append(b.More, "SIMCUDA_AFTER_FORK=allow")
	b.mustRun(b.Client, "fork-late", "3")
}

func TestSanitizers(t *testing.T) {
	for _, sanitizer := range []string{"address,undefined", "thread"} {
		t.Run(sanitizer, func(t *testing.T) {
			b := newBench(t, "-O1", "-fsanitize="+sanitizer, "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
			for way := range ways(b.Plugin) {
				if strings.HasPrefix(way, "deepbind") {
					continue // the sanitizers' own libraries refuse RTLD_DEEPBIND
				}
				b.run(way)
			}
			b.Settings.Discipline, b.File = device.Turns, b.File+"-turns"
			b.run("threads")
			b.mustRun(b.Workload, "--kernels", "50", "--kernel-ns", "1000", "--jobs", "3", "--graph", "--csv", filepath.Join(t.TempDir(), "a.csv"))
		})
	}
}

// rows returns the completion times of a CSV file in nanoseconds.
func rows(t testing.TB, path string) (times []time.Duration) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split("start_timestamp_ns,end_timestamp_ns,jct_ms,max_allocated_gpu_memory_allocated_byte,max_reserved_gpu_memory_byte", ",")
	if diff := cmp.Diff(want, records[0]); diff != "" {
		t.Fatal(diff)
	}
	for _, r := range records[1:] {
		begin, err1 := strconv.ParseInt(r[0], 10, 64)
		end, err2 := strconv.ParseInt(r[1], 10, 64)
		jct, err3 := strconv.ParseFloat(r[2], 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%.6f", float64(end-begin)/1e6) != fmt.Sprintf("%.6f", jct) {
			t.Errorf("row %q: times and JCT differ", r)
		}
		times = append(times, time.Duration(end-begin))
	}
	return times
}

// No job can be quicker than its kernels: that much the model makes exact.
func TestWorkloadProtocol(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	profile, out := filepath.Join(dir, "p.txt"), filepath.Join(dir, "a.csv")
	if err := os.WriteFile(profile, []byte("# a job\n10 20000\n1 300000 # one long\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := b.command(b.Workload, "--profile", profile, "--min-jobs", "3", "--csv", out, "--barrier", "--mem-bytes", "1000000", "--reserved-bytes", "2000000", "--launch-ns", "10", "--host-ms", "0.1", "--period-ms", "1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	if line, err := lines.ReadString('\n'); line != "model loaded\n" {
		t.Fatalf("first line %q (%v)", line, err)
	}
	if loaded := rows(t, out); len(loaded) != 1 {
		t.Errorf("%d rows before the barrier, want the warm-up", len(loaded))
	}
	if _, err := io.WriteString(stdin, "run\n"); err != nil {
		t.Fatal(err)
	}
	last, err := io.ReadAll(lines)
	if err := errors.Join(err, cmd.Wait()); err != nil || string(last) != "jobs 3 launches 44\n" {
		t.Fatalf("%q, %v", last, err)
	}
	jobs := rows(t, out)
	if len(jobs) != 4 {
		t.Errorf("%d rows, want a warm-up and 3 jobs", len(jobs))
	}
	for _, jct := range jobs {
		if least := 500*time.Microsecond + 100*time.Microsecond; jct < least {
			t.Errorf("a job of %v, its kernels and host work alone take %v", jct, least)
		}
	}
	body, _ := os.ReadFile(out)
	if !strings.Contains(string(body), ",1000000,2000000\n") {
		t.Errorf("memory columns: %s", body)
	}
}

// Two processes have the device open at the same time, and share it: neither
// can end its job before the device has done both.
func TestTwoShareTheDevice(t *testing.T) {
	b := newBench(t)
	const kernels, each = 20, 10 * time.Millisecond
	var jobs [2]*exec.Cmd
	var in [2]io.WriteCloser
	var out [2]*bufio.Reader
	for i := range jobs {
		jobs[i] = b.command(b.Workload, "--kernels", strconv.Itoa(kernels), "--kernel-ns", strconv.Itoa(int(each)), "--jobs", "1", "--barrier")
		stdout, err := jobs[i].StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if in[i], err = jobs[i].StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out[i] = bufio.NewReader(stdout)
		if err := jobs[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range jobs {
		if line, err := out[i].ReadString('\n'); line != "model loaded\n" {
			t.Fatalf("%q %v", line, err)
		}
	}
	begin := time.Now()
	for i := range jobs {
		if _, err := io.WriteString(in[i], "run\n"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range jobs {
		if _, err := io.Copy(io.Discard, out[i]); err != nil {
			t.Error(err)
		}
		if err := jobs[i].Wait(); err != nil {
			t.Error(err)
		}
	}
	if took, least := time.Since(begin), 2*kernels*each; took < least {
		t.Errorf("both jobs were done after %v, one device needs %v", took, least)
	}
}

func TestWorkloadRefuses(t *testing.T) {
	b := newBench(t)
	bad := filepath.Join(t.TempDir(), "bad.txt")
	if err := os.WriteFile(bad, []byte("1 10\n1 x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	job := []string{"--kernels", "1", "--kernel-ns", "1000", "--jobs", "1"}
	tests := []struct {
		name   string
		args   []string
		fault  string
		status int
		want   string
	}{
		{"nothing", nil, "", 2, "--profile"},
		{"both", append(job, "--profile", bad), "", 2, "--profile"},
		{"no kernels", []string{"--kernels", "0", "--kernel-ns", "5"}, "", 2, "above 0"},
		{"negative", []string{"--kernels", "-1"}, "", 2, "--kernels -1"},
		{"not a number", append(job, "--sleep-ms", "5x"), "", 2, "--sleep-ms 5x"},
		{"argument", append(job, "more"), "", 2, "more"},
		{"flag", append(job, "--more"), "", 2, "usage"},
		{"bad profile", []string{"--profile", bad}, "", 1, "bad.txt:2"},
		{"no profile", []string{"--profile", bad + "x"}, "", 1, "No such file"},
		{"device", append(job, "--device", "1"), "", 1, "cuDeviceGet: driver error 101"},
		{"memory", append(job, "--mem-bytes", "99999999999999"), "", 1, "cuMemAlloc: driver error 2"},
		{"csv", append(job, "--csv", bad+"/x"), "", 1, "Not a directory"},
		{"end of input", append(job, "--barrier"), "", 1, "before \"run\""},
		{"launch fails", append(job, "--jobs", "10"), "launch:5", 1, "cuLaunchKernel: driver error 719"},
		{"dies", append(job, "--jobs", "10"), "die:5", -1, ""},
		{"slow", job, "slow:10", 0, "jobs 1 launches 2"},
		{"dlsym", job, "dlsym", 0, "jobs 1 launches 2"},
		{"two faults", append(job, "--jobs", "10"), "slow:10,launch:3", 1, "719"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b.t, b.fault = t, tt.fault
			cmd := b.command(b.Workload, tt.args...)
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != tt.status || !strings.Contains(string(out), tt.want) {
				t.Errorf("%v: %s", cmd.ProcessState, out)
			}
		})
	}
}

// A process that is killed takes its queue with it: the device is free for the
// others, though the dead one had 400 s of kernels waiting, held most of the
// memory, and nobody has asked for its exit status yet.
func TestDeadClientIsPurged(t *testing.T) {
	for _, o := range []device.Discipline{device.FIFO, device.Turns, device.MPS} {
		b := newBench(t)
		b.Settings, b.fault = device.Settings{Discipline: o, Turn: 200 * time.Second, Ahead: 1024}, "die:200"
		hog := b.command(b.Workload, "--kernels", "900", "--kernel-ns", "2000000000", "--jobs", "1", "--mem-bytes", "10000000000")
		if err := hog.Start(); err != nil {
			t.Fatal(err)
		}
		waitForZombie(t, hog.Process.Pid)
		b.fault = ""
		job := []string{"--kernels", "10", "--kernel-ns", "10000", "--jobs", "1"}
		if o == device.Turns { // whoever asks for memory finds the dead, too
			job = append(job, "--mem-bytes", "10000000000")
		}
		b.mustRun(b.Workload, job...)
		hog.Wait()
		if s, ok := hog.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
			t.Errorf("ended with %v, want a kill", hog.ProcessState)
		}
	}
}

func waitForZombie(t *testing.T, pid int) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(stat, []byte(") Z ")) {
			return
		}
	}
	t.Fatal("the process did not die")
}

// 50 times a process is killed at a random moment of its life, beside two that
// go on and must end with all their jobs done.
func TestKillsAtRandomMoments(t *testing.T) {
	b := newBench(t)
	random := rand.New(rand.NewPCG(1, 2))
	var steady sync.WaitGroup
	stop := make(chan struct{})
	for i := range 2 {
		steady.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				cmd := b.command(b.Workload, "--kernels", "20", "--kernel-ns", "20000", "--jobs", "20")
				if out, err := cmd.CombinedOutput(); err != nil || string(out) != "jobs 20 launches 420\n" {
					t.Errorf("steady process %d, run %d: %v %s", i, n, err, out)
					return
				}
			}
		})
	}
	for range 50 {
		cmd := b.command(b.Workload, "--kernels", "400", "--kernel-ns", "50000", "--jobs", "1000", "--mem-bytes", "1000000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(20_000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		cmd.Wait()
	}
	close(stop)
	steady.Wait()
}

func TestDeathByFaultLeavesTheOthers(t *testing.T) {
	b := newBench(t)
	other := b.command(b.Workload, "--kernels", "10", "--kernel-ns", "100000", "--jobs", "50")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	b.fault = "die:30"
	for range 5 {
		cmd := b.command(b.Workload, "--kernels", "20", "--kernel-ns", "1000000", "--jobs", "5")
		cmd.Run()
		if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
			t.Errorf("ended with %v, want a kill", cmd.ProcessState)
		}
	}
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
}

func TestFileOfSomethingElse(t *testing.T) {
	b := newBench(t)
	for name, body := range map[string]string{"short": "no device", "same size": ""} {
		if err := os.WriteFile(b.File, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "same size" {
			b.mustRun(b.Direct, "1") // makes one
			f, err := os.OpenFile(b.File, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteString("not a device")
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
		}
		out, err := b.command(b.Direct, "1").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "driver error 100") {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
}

func TestEnv(t *testing.T) {
	built := simcuda.Built{Driver: "/c/1/libcuda.so.1"}
	if diff := cmp.Diff([]string{"LD_LIBRARY_PATH=/c/1", "SIMCUDA_DEVICE=/f"}, simcuda.Device{File: "/f"}.Env(built)); diff != "" {
		t.Error(diff)
	}
	d := simcuda.Device{File: "/f", Settings: device.Settings{Discipline: device.Turns, Turn: 1, Switch: 2, Ahead: 3}, More: []string{"SIMCUDA_NOOP=1"}}
	for _, want := range []string{"DEVICE=/f", "ORDER=turns", "SLICE_NS=1", "SWITCH_NS=2", "QUEUE=3", "NOOP=1"} {
		if env := d.Env(built); !slices.Contains(env, "SIMCUDA_"+want) {
			t.Errorf("%s is not in %q", want, env)
		}
	}
}

// What people build without Go is what the tests build with it.
func TestMakefile(t *testing.T) {
	needCompiler(t)
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("needs make: install with apt-get install make")
	}
	out := t.TempDir()
	if text, err := exec.Command("make", "OUT="+out).CombinedOutput(); err != nil || bytes.Contains(text, []byte("warning")) {
		t.Fatalf("make: %v\n%s", err, text)
	}
	b := bench{Built: simcuda.Built{Driver: filepath.Join(out, "libcuda.so.1")}, Device: simcuda.Device{File: filepath.Join(out, "device")}, t: t}
	b.mustRun(filepath.Join(out, "deft-client"), "local", "10", filepath.Join(out, "plugin.so"))
	b.mustRun(filepath.Join(out, "deft-direct"), "10")
	b.mustRun(filepath.Join(out, "deft-workload"), "--kernels", "1", "--kernel-ns", "1000", "--jobs", "1")
}

func TestReadCounts(t *testing.T) {
	if _, err := simcudatest.ReadCounts(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	path := filepath.Join(t.TempDir(), "counts")
	if err := os.WriteFile(path, []byte("{\"pid\":1}\n{\"pid\""), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := simcudatest.ReadCounts(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("half a line: %v, %v", all, err)
	}
}
