package python

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foretime/foretime/allox-est/internal/journal"
)

// installed makes the Python package as a wheel has it, and the program next to it, and
// returns the two folders.
func installed(t *testing.T) (packages, programs string) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3: install with apt-get install python3")
	}
	packages, programs = t.TempDir(), t.TempDir()
	for from, name := range map[string]string{
		"allox_est.py": "__init__.py", "_track.py": "_track.py",
		filepath.Join("..", "..", "tools", "release", "python", "_program.py"): "_program.py",
	} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Join(packages, "allox_est"), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(packages, "allox_est", name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// The wheel contains the functions of the commands here; these tests call none.
	if err := os.WriteFile(filepath.Join(packages, "allox_est", "_commands.py"), []byte("__all__ = []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", programs, "github.com/foretime/foretime/allox-est/cmd/allox-est").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return packages, programs
}

// loop runs a Python program with allox_est.track and returns its output on both
// outputs.
func loop(t *testing.T, packages, programs, program string) (stdout, stderr string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loop.py")
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, _ := exec.LookPath("python3")
	cmd := exec.Command(exe, "-B", path)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+packages, "PATH="+programs+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+filepath.Join(packages, "state"))
	var out, bar bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bar
	err = cmd.Run()
	return out.String(), bar.String(), err
}

// TestRealTrack runs loops of Python programs with allox_est.track.
func TestRealTrack(t *testing.T) {
	packages, programs := installed(t)
	t.Run("whole", func(t *testing.T) { wholeLoops(t, packages, programs) })
	t.Run("forms", func(t *testing.T) { loopForms(t, packages, programs) })
	t.Run("callbacks", func(t *testing.T) { loopCallbacks(t, packages, programs) })
	t.Run("ends", func(t *testing.T) { loopEnds(t, packages, programs) })
}

// wholeLoops shows the progress of loops: the items are those of the iterable, the
// remaining time has an interval, and a whole loop is kept for later ones.
func wholeLoops(t *testing.T, packages, programs string) {
	book := filepath.Join(packages, "loops.jsonl")
	program := `
import time
from allox_est import _track, track
_track.END = 60 # seconds that the program has to end
done = []
bar = track(range(60), desc="train", journal="` + book + `")
for item in bar:
    time.sleep(0.03)
    for wait in range(6000 if item == 40 else 0):
        if bar.interval is None:
            time.sleep(0.01)
    done.append(item)
assert done == list(range(60)), done
print("all")
`
	interval := regexp.MustCompile(`(?m)^train:  *\d+%\|.*\| \d+/60 \[\d\d:\d\d<\d\d:\d\d \(\d\d:\d\d-\d\d:\d\d\), `)
	for range 2 {
		stdout, stderr, err := loop(t, packages, programs, program)
		if err != nil || stdout != "all\n" || !interval.MatchString(stderr) || !strings.Contains(stderr, "100%|██████████| 60/60") {
			t.Fatalf("%v: %s\n%s", err, stdout, stderr)
		}
	}
	j, err := journal.Read(book)
	if err != nil || len(j.Runs) != 2 {
		t.Fatalf("%v: %d loops kept, want 2", err, len(j.Runs))
	}
	// Programs at different paths are different loops.
	if r := j.Runs[0]; r.HasFailed() || r.Epochs != 60 || r.Name != "loop.py" || r.Wall < 60*0.03 || len(r.Marks) < 3 || r.Job == j.Runs[1].Job {
		t.Errorf("kept as %+v", r)
	}
	if _, err := os.Stat(filepath.Join(packages, "state")); err == nil {
		t.Error("another journal was made")
	}
}

// loopForms uses the bar in the ways of tqdm. What fails in the program or on the output
// never stops a loop.
func loopForms(t *testing.T, packages, programs string) {
	false1, slow, noise := t.TempDir(), t.TempDir(), t.TempDir()
	for folder, text := range map[string]string{false1: "exit 1", slow: "exec sleep 600", noise: "echo '{'; echo; exec cat"} {
		if err := os.WriteFile(filepath.Join(folder, "allox-est"), []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const whole = `
import time
from allox_est import track
for i in track(range(40)):
    time.sleep(0.03)
print(i)
`
	for _, tt := range []struct{ name, programs, text, stdout, stderr string }{
		{"no program", t.TempDir(), whole, "39\n", `100%\|█{10}\| 40/40 \[`},
		{"a program that fails", false1, whole, "39\n", `100%\|█{10}\| 40/40 \[`},
		{"a program that hangs", slow, whole, "39\n", `100%\|█{10}\| 40/40 \[`},
		{"a program that does not read", slow, `
import os, time
from allox_est import track
bar = track(range(40))
for i in bar:
    time.sleep(0.03)
    try:
        while bar._program is not None:
            os.write(bar._program.stdin.fileno(), b"0" * 4096)
    except BlockingIOError:
        pass
print(i)
`, "39\n", `100%\|█{10}\| 40/40 \[`},
		{"wrong totals", programs, `
from allox_est import track
for total in (-1, 2.5, 2**70, float("inf"), float("nan"), 0, "3"):
    assert list(track(range(5), total=total)) == [0, 1, 2, 3, 4], total
    assert sum(track((i for i in range(5)), total=total, disable=total == 2**70)) == 10, total
print(len(track([1, 2], total=-1)), bool(track(i for i in ())), bool(track([])))
assert list(track((i for i in range(3)), total=-1)) == [0, 1, 2]
`, "2 True False\n", `^5it \[`},
		{"a line above the bar", programs, `
from allox_est import track
for i in track(range(2), disable=True):
    track.write("item %d" % i)
`, "item 0\nitem 1\n", `^$`},
		{"nested loops", programs, `
import time
from allox_est import track
for e in track(range(3), desc="epochs"):
    for b in track(range(10), desc="batches", mininterval=0):
        time.sleep(0.02)
print(e)
`, "2\n", `^epochs:   0%\|\s+\| 0/3 [^\n]*\n(batches: [^\n]*\n)+epochs:  33%[^\n]*1/3 [^\n]*\n(batches: [^\n]*\n)+epochs:  66%[^\n]*2/3 [^\n]*\n(batches: [^\n]*\n)+epochs: 100%[^\n]*\n$`},
		{"a program that says what is no answer", noise, whole, "39\n", `100%\|█{10}\| 40/40 \[`},
		{"a length that is not known", programs, `
from allox_est import track
print(sum(track(i for i in range(1000))))
`, "499500\n", `^1000it \[00:0\d, [\d.]+it/s\]\n$`},
		{"no items", programs, `
from allox_est import track
print(list(track([])))
`, "[]\n", `^0it \[`},
		{"by hand", programs, `
from allox_est import track
with track(total=50, desc="step", unit="b") as bar:
    for i in range(5):
        bar.set_description("step %d" % i)
        bar.set_postfix(loss=0.123456, lr="1e-3")
        bar.update(10)
print(bar.n, bar.total, len(bar), bar.format_dict["n"])
`, "50 50 50 50\n", `step 4: 100%\|█{10}\| 50/50 \[00:0\d<00:00, [\d.]+b/s, loss=0.123, lr=1e-3\]\n$`},
		{"a loop that is left", programs, `
from allox_est import track
try:
    for i in track(range(10)):
        if i == 3:
            raise KeyError(i)
except KeyError as e:
    print("left", e)
`, "left 3\n", ` 3/10 \[`},
		{"an output that is closed", programs, `
import sys
from allox_est import track
sys.stderr.close()
print(sum(track(range(10))))
`, "45\n", `^$`},
		{"nothing shown", programs, `
from allox_est import track, trange
print(sum(track(range(10), disable=True)) + sum(trange(3, disable=True)))
`, "48\n", `^$`},
		{"a notebook", programs, `
import sys, types
sys.modules["ipykernel"] = types.ModuleType("ipykernel")
from allox_est import track
print(sum(track(range(10), mininterval=0)))
`, "45\n", `^\r  0%\|\s+\| 0/10 [^\n]*\r100%\|█{10}\| 10/10 [^\n]*\n$`},
		{"workers that are forked", programs, `
import os, time
from allox_est import track
for i in track(range(30)):
    time.sleep(0.03)
    if i == 25:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
print(i)
`, "29\n", `100%\|█{10}\| 30/30 \[`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, err := loop(t, packages, tt.programs, tt.text)
			if err != nil || stdout != tt.stdout || !regexp.MustCompile(tt.stderr).MatchString(stderr) {
				t.Errorf("%v: %q, %q", err, stdout, stderr)
			}
		})
	}
}

// loopEnds checks that the program ends with the one that started it, however that ends.
func loopEnds(t *testing.T, packages, programs string) {
	for _, end := range []string{"os.kill(os.getpid(), 9)", "os._exit(3)", "raise SystemExit(3)", "os.fork() or time.sleep(600); os.kill(os.getpid(), 9)"} {
		path := filepath.Join(t.TempDir(), "loop.py")
		text := `
import os, sys, time
from allox_est import track
bar = track(range(1000))
for i in bar:
    time.sleep(0.03)
    if bar._program is not None:
        print(bar._program.pid, flush=True)
        ` + end + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		exe, _ := exec.LookPath("python3")
		cmd := exec.Command(exe, "-B", path)
		cmd.Env = append(os.Environ(), "PYTHONPATH="+packages, "PATH="+programs+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		said, err := os.Create(path + ".out") // no pipe: forked processes would hold it open
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout = said
		_ = cmd.Run() // it is killed
		said.Close()
		out, _ := os.ReadFile(said.Name())
		t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // forked processes
		pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
		if err != nil {
			t.Fatalf("%s: no program was started: %q", end, out)
		}
		for try := 0; alive(pid); try++ {
			if try > 600 {
				t.Fatalf("%s: the program goes on", end)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// loopCallbacks shows the bar of the callbacks of training loops, here with a stand-in of
// Keras: TestRealFrameworks has the real one.
func loopCallbacks(t *testing.T, packages, programs string) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := loop(t, packages+":"+here, programs, `
import sys, types, time
for name in ("keras", "keras.callbacks"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["keras.callbacks"].Callback = object
import time_writter_callbacks
c = time_writter_callbacks.keras(bar=True)
c.params = {"epochs": 60, "steps": 3}
for epoch in range(60):
    c.on_epoch_begin(epoch)
    time.sleep(0.03)
    for wait in range(6000 if epoch == 40 else 0):
        if time_writter_callbacks._bar.interval is None:
            time.sleep(0.01)
c.on_train_end()
`)
	if err != nil || !regexp.MustCompile(`(?m)^training: +\d+%.* \d+/60 \[\d\d:\d\d<\d\d:\d\d \(`).MatchString(stderr) || !strings.Contains(stderr, " 60/60 ") || !strings.Contains(stdout, "<TIME_WRITTER_OUTPUT>") {
		t.Errorf("%v: %s\n%s", err, stdout, stderr)
	}
}

// alive says that a process runs; one that waits for its parent does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
