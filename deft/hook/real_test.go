package hook_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// python runs a script under the hook and returns what it printed.
func (w *world) python(script string, env ...string) string {
	w.t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		w.t.Skip("needs python3: install with apt-get install python3")
	}
	path, err := filepath.Abs("../python")
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := w.command(python, "-c", script)
	cmd.Env = append(append(cmd.Env, "PYTHONPATH="+path, "PYTHONDONTWRITEBYTECODE=1"), env...)
	return w.run(cmd)
}

// Python marks jobs, in a session and, doing nothing, outside of one.
func TestRealPythonJobs(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	const script = `
import ctypes, deft
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
try:
    with deft.job(slo_ms=2.5):
        for _ in range(5):
            assert cuda.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, None, None, None) == 0
        assert cuda.cuCtxSynchronize() == 0
        raise KeyError
except KeyError:
    pass
print(deft.present(), deft.job_begin(), deft.job_end())
try:
    deft.job_begin(-1)
except ValueError as e:
    print(e)
`
	if got := w.python(script); got != "True True True\nslo_ms is negative: -1\n" {
		t.Errorf("in a session: %q", got)
	}
	gone := w.reap()
	if len(gone) != 1 || gone[0].Job != 2 || gone[0].JobsEnded != 2 || !gone[0].JobMarked || gone[0].Launches != 5 {
		t.Errorf("the hook saw %+v", gone)
	}
	if got := w.python(script, "LD_PRELOAD="); got != "False False False\nslo_ms is negative: -1\n" {
		t.Errorf("without the hook: %q", got)
	}
	if got := w.python(script, "DEFT_SESSION="); got != "True False False\nslo_ms is negative: -1\n" {
		t.Errorf("without a session: %q", got)
	}
}

// What Python programs do to their processes goes on as ever: threads, all
// ways to start workers, signals. Every process that launches is a client.
func TestRealPythonProcesses(t *testing.T) {
	w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	w.device.More = append(w.device.More, "SIMCUDA_AFTER_FORK=allow")
	const script = `
import ctypes, multiprocessing, os, signal, subprocess, sys, threading

def work(n):
    cuda = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    for _ in range(n):
        assert cuda.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, None, None, None) == 0
    assert cuda.cuCtxSynchronize() == 0
    return n

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert sum(pool.map(work, [1, 2, 3, 4], 1)) == 10
        pool.close(); pool.join()
    work(10)
    threads = [threading.Thread(target=work, args=(5,)) for _ in range(4)]
    [t.start() for t in threads]; [t.join() for t in threads]
    pid = os.fork()
    if pid == 0:
        work(7)
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    for how in ("spawn", "forkserver"):
        p = multiprocessing.get_context(how).Process(target=os.getpid)
        p.start(); p.join()
        assert p.exitcode == 0, how
    assert subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout == b"1\n"
    seen = []
    signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    os.kill(os.getpid(), signal.SIGUSR1)
    assert seen == [1]
    p = subprocess.Popen([sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"], stdout=subprocess.PIPE)
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    assert p.wait() == -signal.SIGINT, p.returncode
    print(len(os.listdir("/proc/self/task")))
`
	if got := w.python(script); got != "1\n" {
		t.Errorf("threads left: %q", got)
	}
	var launches uint64
	for _, c := range w.reap() {
		launches += c.Launches
	}
	if launches != 10+10+20+7 {
		t.Errorf("the hook saw %d launches, want 47", launches)
	}
}
