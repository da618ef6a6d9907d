"""Calls the functions of the five packages on real input; mypy checks it too."""

import contextlib
import copy
import datetime
import importlib.util
import io
import json
import logging
import math
import multiprocessing
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import typing
import unittest.mock

import allox_est
import chamtool
import deft
import edgeprof
import mirage
import numpy
import pandas  # type: ignore

# mirage: dates, durations, zones, what is in an answer
mirage.log_synth(days=20, seed=1, out=pathlib.Path("month.log"))
noon = datetime.datetime(2023, 1, 15, 12, tzinfo=datetime.timezone.utc)
job = mirage.when(
    "month.log", at=noon, job_nodes=4, job_limit=datetime.timedelta(hours=12), by=datetime.date(2023, 1, 16), curve=2.5, no_cache=True
)
assert job.at == noon and job.start.utcoffset() == datetime.timedelta(hours=-6), job
assert job.start >= job.at and 0 <= job.wait_hours.low <= float(job.wait_hours) <= job.wait_hours.high, job
assert job.asked == "4 nodes, limit 12h" and job.handover is not None and job.handover.overlap_cost == 2.5, job
assert job.by is not None and job.chance is not None and 0 <= job.chance <= 1
again = mirage.when("month.log", at=job.at, job_nodes=4, job_limit="12h", by=job.by, no_cache=True)
assert again.start == job.start, (again, job)
alone = mirage.when("month.log", at=noon, job_nodes=4, job_limit="12h", curve=True, no_cache=True).handover
assert alone is not None and alone.overlap_cost == 1 and mirage.when("month.log", at=noon, job_nodes=4, job_limit="12h", curve=False).handover is None
span = typing.cast(datetime.timedelta, numpy.timedelta64(12, "h"))
assert mirage.when("month.log", at=noon, job_nodes=4, job_limit=span, no_cache=True).start == job.start
points = job.handover.chance_by.to_frame()
assert list(points.columns) == ["seconds", "chance"] and len(points) > 5, points
assert mirage.log_stats("month.log").first_submit.utcoffset() is not None
assert pickle.loads(pickle.dumps(job)) == job and copy.deepcopy(job) == job
assert repr(job).startswith("WhenAnswer(at=2023-01-15 06:00:00-06:00, ") and len(repr(job)) < 1000, job
assert "<td>asked</td><td>4 nodes, limit 12h</td>" in job._repr_html_() and "<th>chance</th>" in job.handover.chance_by._repr_html_()
assert list(job.handover.chance_by[-2:].to_frame().seconds) == list(points.seconds[-2:]) and job.handover.chance_by[0].seconds == points.seconds[0]
assert json.loads(job.to_json())["start"] == job.start.isoformat() and json.loads(job.handover.chance_by.to_json()) == job.handover.chance_by.to_dicts()
assert mirage.Start(math.inf, 1.0).to_json() == '{"seconds": null, "chance": 1.0}'
assert f"{job.wait_hours:.0f}".count("[") == 1 and json.dumps(job.to_dict(), default=str)

# Files, bytes and frames are input, and numpy's numbers are numbers.
with open("month.log", encoding="utf-8") as text, open("month.log", "rb") as binary:
    logs: typing.List[typing.Union[bytes, typing.IO[str], typing.IO[bytes]]] = [text, binary, pathlib.Path("month.log").read_bytes()]
    for log in logs:
        assert mirage.when(log, at=noon, job_nodes=numpy.int64(4), job_limit="12h", no_cache=True).start == job.start
table = {"job": list(range(30)), "user": ["a"] * 30, "arrival": list(range(30)), "cpu": [3.0 + i for i in range(30)], "gpu": [1.0 + i / 9 for i in range(30)]}
schedules = allox_est.schedule(input=pandas.DataFrame(table), cpu_nodes=numpy.int32(2), gpu_nodes=1, policy=["allox", "fifo"]).schedules
assert [s.policy for s in schedules] == ["allox", "fifo"] and list(schedules.to_frame().policy) == ["allox", "fifo"], schedules
if importlib.util.find_spec("polars"):
    polars = importlib.import_module("polars")
    again_by = allox_est.schedule(input=polars.DataFrame(table), cpu_nodes=2, gpu_nodes=1, policy=["allox", "fifo"]).schedules
    assert again_by == schedules and list(schedules.to_polars()["jobs"]) == [30, 30], again_by
    print("polars", end=" ")
try:
    mirage.backtest("month.log", timeout=0.1)
except TimeoutError as e:
    assert isinstance(e, mirage.ProgramError) and "0.1 s" in e.message, e
else:
    raise AssertionError("no timeout")
pathlib.Path("month.log").rename("-month.log")
assert mirage.log_stats("-month.log", timeout=float("inf")).first_submit.utcoffset() is not None
pathlib.Path("-month.log").rename("month.log")
for wrong in [float("nan"), -1]:
    try:
        mirage.log_stats("month.log", timeout=wrong)
    except ValueError as e:
        assert str(e).startswith("timeout: "), e
    else:
        raise AssertionError("a timeout of %r" % wrong)

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
    try:
        allox_est.schedule(input=[table])  # type: ignore[arg-type]
    except TypeError as e:
        assert str(e).startswith("input: want a text, a number, or a file") and str(e).endswith("a dict"), e
    else:
        raise AssertionError("no error")
    pathlib.Path("mixed").write_text("#!/bin/sh\necho trace; echo {}\n")
    os.chmod("mixed", 0o755)
    with unittest.mock.patch.object(mirage._program, "program", lambda: os.path.abspath("mixed")):
        try:
            mirage.log_stats("month.log")
        except mirage.UsageError as e:
            assert "more than its answer" in e.message, e
        else:
            raise AssertionError("no error")
assert "absent" not in shown.getvalue(), shown.getvalue()

# edgeprof: devices as a frame, settings, a model as bytes
pathlib.Path("resnet.onnx").write_bytes(b"")
try:
    edgeprof.rank("resnet.onnx")
except edgeprof.ProgramError as e:
    assert "resnet.onnx" in e.message, e
else:
    raise AssertionError("no error")
subprocess.run(["edgeprof", "synth", "resnet", "--width", "0.25", "--resolution", "64", "--out", "r.onnx"], check=True, stdout=subprocess.DEVNULL)
devices = edgeprof.rank("r.onnx", set={"source.timeout": datetime.timedelta(seconds=5)}).candidates
try:
    edgeprof.rank("r.onnx", set={"source.timeout": None})
except TypeError as error:
    assert str(error) == "set: source.timeout is None", error
else:
    raise AssertionError("a setting was None")
frame = devices.to_frame()
assert len(frame) == len(devices) == 1 and frame.seconds_value[0] == devices[0].seconds.value > 0, frame
assert edgeprof.layers("r.onnx").layers[0].predicted_seconds > 0
assert edgeprof.inspect(pathlib.Path("r.onnx").read_bytes()) == edgeprof.inspect("r.onnx")

# allox-est: a command line of several words; what the program logs goes to the package's logger
logged = io.StringIO()
logger = logging.getLogger("allox_est")
logger.addHandler(logging.StreamHandler(logged))
logger.setLevel(logging.INFO)
script = "for i in $(seq $1); do echo epoch $i; sleep 0.02; done"
cpu = allox_est.run("sh", "-c", script, "sh", "{epochs}", epochs=40, journal="j.jsonl").devices["cpu"]
assert cpu.wall_seconds is not None and cpu.wall_seconds.value > 0.5, cpu
assert "counting epoch" in logged.getvalue() and "level=" not in logged.getvalue(), logged.getvalue()
estimated = allox_est.estimate("sh", "-c", script, "sh", "{epochs}", journal="j.jsonl", epochs=40).devices["cpu"]
assert estimated.wall_seconds is not None and estimated.conditions is not None and estimated.conditions.first_sample.tzinfo is not None
pathlib.Path("train.sh").write_text("#!/bin/sh\nfor i in $(seq $1); do echo epoch $i; sleep 0.02; done\n")
os.chmod("train.sh", 0o755)
try:
    allox_est.run("./train.sh", epochs=30)
except allox_est.ProgramError as e:  # one word is a command too
    assert "{epochs}" in e.message, e
assert all(s.tool == "edgeprof" for s in edgeprof.record()) and allox_est.record_list()[0].at.tzinfo is not None

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
    assert isinstance(e.answer, chamtool.Rows), e.answer
    checks = e.answer
assert len(checks) > 0 and checks[0].status in ("ok", "warn", "fail"), checks
results: typing.List[deft.Built] = []
thread = threading.Thread(target=lambda: results.append(deft.build_hook(out_dir="hook")))
thread.start()
thread.join()
assert results and os.path.exists(results[0].path), results
with deft.job(slo_ms=50):
    pass

for module in (allox_est, chamtool, deft, edgeprof, mirage):
    assert module.__version__ == "" or module.__version__[0].isdigit(), module
    for name in module._commands:
        item = getattr(module, name)
        assert item.__doc__.strip(), name
        assert all(f.islower() for f in getattr(item, "__dataclass_fields__", ())), "a field of %s has no name in JSON" % name
    said = subprocess.run([sys.executable, "-m", module.__name__, "--version"], capture_output=True, text=True)
    assert said.returncode == 0 and said.stdout.startswith(module.__name__.replace("_", "-")), said


# A pool of processes gets answers and errors; sys.stderr may be absent.
with multiprocessing.get_context("fork").Pool(1) as pool, contextlib.redirect_stderr(None):
    try:
        pool.apply_async(mirage.when, ("absent.log",)).get(60)
    except mirage.ProgramError as e:
        assert e.code == 1 and "absent.log" in e.message, e
    else:
        raise AssertionError("no error")
    assert pool.apply_async(edgeprof.inspect, ("r.onnx",)).get(60).conv_layers > 0

# Without a record of installed files the program is found where this Python has programs.
os.makedirs("venv/lib/python3/site-packages")
os.makedirs("venv/bin")
shutil.copytree(os.path.dirname(mirage.__file__), "venv/lib/python3/site-packages/mirage")
shutil.copy(mirage._program.program(), "venv/bin/mirage")
found = "import mirage; print(mirage._program.program(), mirage.log_stats('month.log').rows)"
said = subprocess.run([sys.executable, "-c", found], env=dict(os.environ, PYTHONPATH="venv/lib/python3/site-packages", PATH=""), capture_output=True, text=True)
assert said.returncode == 0 and said.stdout.startswith(os.path.realpath("venv/bin/mirage")), said
print("done")
