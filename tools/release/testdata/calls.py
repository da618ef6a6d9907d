"""Calls the functions of the five packages on real input; mypy checks it too."""

import contextlib
import datetime
import io
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import allox_est
import chamtool
import deft
import edgeprof
import mirage

# mirage: dates, durations, lists, tables
mirage.log_synth(days=20, seed=1, out=pathlib.Path("month.log"))
job = mirage.when(
    "month.log", at=datetime.datetime(2023, 1, 15, 12), job_nodes=4, job_limit=datetime.timedelta(hours=12),
    by=datetime.datetime(2023, 1, 16), curve=2.5, no_cache=True,
)
assert job.at == datetime.datetime(2023, 1, 15, 12), job
assert job.start >= job.at and 0 <= job.wait_hours.low <= job.wait_hours.high, job
assert job.answer.asked == "4 nodes, limit 12h" and job.answer.handover.overlap_cost == 2.5, job.answer
assert job.chance is not None and 0 <= job.chance <= 1
again = mirage.when("month.log", at=str(job.answer.at), job_nodes=4, job_limit="12h", by=job.answer.by, no_cache=True)
assert again.start == job.start, (again, job)
points = job.answer.handover.to_frame()
assert list(points.columns) == ["seconds", "chance"] and len(points) > 5, points
assert len(mirage.log_stats("month.log")) > 3

# Wrong arguments and failures carry the program's line, and print nothing else.
shown = io.StringIO()
with contextlib.redirect_stderr(shown):
    try:
        mirage.when("absent.log")
    except mirage.ProgramError as e:
        assert e.code == 1 and "absent.log" in e.message and "\n" not in e.message, e
    else:
        raise AssertionError("no error")
    try:
        mirage.when("month.log", level=2.0)
    except mirage.UsageError as e:
        assert e.code == 2 and "level" in e.message, e
    else:
        raise AssertionError("no error")
    try:
        mirage.when("month.log", job_limit=3600)  # type: ignore[arg-type]
    except TypeError as e:
        assert "job_limit" in str(e) and "3600" in str(e), e
    else:
        raise AssertionError("no error")
assert "absent" not in shown.getvalue(), shown.getvalue()

# edgeprof: a list of devices as a frame, mappings, bools
pathlib.Path("resnet.onnx").write_bytes(b"")
try:
    edgeprof.rank("resnet.onnx")
except edgeprof.ProgramError as e:
    assert "resnet.onnx" in e.message, e
else:
    raise AssertionError("no error")
subprocess.run(
    [os.path.join(os.path.dirname(os.path.dirname(edgeprof.__file__)), "bin", "edgeprof"), "synth", "resnet",
     "--width", "0.25", "--resolution", "64", "--out", "r.onnx"],
    check=True, stdout=subprocess.DEVNULL,
)
with contextlib.redirect_stderr(io.StringIO()):
    devices = edgeprof.rank("r.onnx", set={"source.timeout": "5s"})
    kernels = edgeprof.layers("r.onnx")
frame = devices.to_frame()
assert len(frame) == len(devices) == 1 and frame.seconds_value[0] == devices[0].seconds.value > 0, frame
assert kernels.layers, kernels
assert edgeprof.inspect("r.onnx")

# allox-est: a command line of several words, live messages
shown = io.StringIO()
script = "for i in $(seq $1); do echo epoch $i; sleep 0.02; done"
with contextlib.redirect_stderr(shown):
    jobs = allox_est.run("sh", "-c", script, "sh", "{epochs}", epochs=40, journal="j.jsonl")
assert jobs["cpu"].wall_seconds is not None and jobs["cpu"].wall_seconds.value > 0.5, jobs
assert "counting epoch" in shown.getvalue(), shown.getvalue()
assert list(jobs.to_frame().device) == ["cpu"]

assert allox_est.estimate("sh", "-c", script, "sh", "{epochs}", journal="j.jsonl", epochs=40)["cpu"].wall_seconds is not None
pathlib.Path("train.sh").write_text("#!/bin/sh\nfor i in $(seq $1); do echo epoch $i; sleep 0.02; done\n")
os.chmod("train.sh", 0o755)
with contextlib.redirect_stderr(io.StringIO()):
    try:
        allox_est.run("./train.sh", epochs=30)
    except allox_est.ProgramError as e:  # one word is a command too
        assert "{epochs}" in e.message, e
assert isinstance(edgeprof.record(), edgeprof.Table) and isinstance(mirage.record(list=True), mirage.Table)

# A program ends, with its job, when the Python program is killed, and when the call is
# interrupted.
slow = "import allox_est; allox_est.run('sh', '-c', 'echo $$ > pid; for i in 1 2 3; do echo epoch $i; sleep 60; done; : {epochs}', epochs=40, fresh=True)"


def gone(pid: int) -> bool:
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


for how in (signal.SIGKILL, signal.SIGINT):
    with contextlib.suppress(FileNotFoundError):
        os.remove("pid")
    python = subprocess.Popen([sys.executable, "-c", slow], stderr=subprocess.PIPE)
    while not (os.path.exists("pid") and pathlib.Path("pid").read_text().strip()):
        time.sleep(0.05)
    python.send_signal(how)
    python.communicate()
    assert gone(int(pathlib.Path("pid").read_text())), "the job outlived its Python program after %s" % how

# chamtool and deft, from a thread too
try:
    checks = chamtool.doctor()
except chamtool.ProgramError as e:  # this machine has no MPI, say
    checks = e.answer
assert len(checks) > 0
results = []
thread = threading.Thread(target=lambda: results.append(deft.build_hook(out="hook")))
thread.start()
thread.join()
assert results and len(results[0]) > 0
with deft.job(slo_ms=50):
    pass

for module in (allox_est, chamtool, deft, edgeprof, mirage):
    assert module.__version__ == "" or module.__version__[0].isdigit(), module
    for name in module._commands if isinstance(module._commands, list) else ():
        assert (getattr(module, name).__doc__ or "").strip(), name
    said = subprocess.run([sys.executable, "-m", module.__name__, "--version"], capture_output=True, text=True)
    assert said.returncode == 0 and said.stdout.startswith(module.__name__.replace("_", "-")), said


# A pool of processes gets errors too; numbers may be numpy's; sys.stderr may be absent.
class int64:
    """A number as numpy has it."""

    __module__ = "numpy"

    def item(self) -> int:
        return 4


with multiprocessing.get_context("fork").Pool(1) as pool, contextlib.redirect_stderr(None):
    try:
        pool.apply(mirage.when, ("absent.log",))
    except mirage.ProgramError as e:
        assert e.code == 1 and "absent.log" in e.message, e
    else:
        raise AssertionError("no error")
    assert "4 nodes" in mirage.when("month.log", job_nodes=int64(), job_limit="12h").answer.asked  # type: ignore[arg-type]
print("done")
