"""Checks that need a GPU: each measures, judges and writes its result when it ends.

usage: checks.py check DEFT OUT [--device cuda|sim] [--only N,N,...] [--seconds S] [--within S]
                       [--resume]
       checks.py worker KIND LOG | job KIND [LOCK] [--device cuda|sim]
       checks.py launches {eager,compiled,graph,cublas,cudnn}
       checks.py probe | ahead | memory [--device cuda|sim]
       checks.py allocate MEGABYTES | loader

check      runs the checks with the program DEFT and writes the results to the folder OUT;
           the other commands are the programs that the checks start
worker     loads one kind of work, prints "ready PID", and then obeys the lines of its
           standard input: "run SECONDS", "trace FILE", "gaps BLOCKS FILE". It ends
           when its standard input does, so it never outlives the checks
job        does one kind of work until it is killed, once it has the lock
launches   runs one kind of work and prints the number of launches that PyTorch's
           profiler (CUPTI) counts; runs under deft doctor
probe      times a fixed kernel for two seconds
ahead      counts the launches that the driver accepts before a launch blocks
memory     prints the memory that the driver reports to a program
allocate   holds memory on the device
loader     feeds the GPU from a DataLoader with forked workers
"""

import argparse
import contextlib
import concurrent.futures
import csv
import ctypes
import fcntl
import glob
import importlib.metadata
import json
import math
import os
import queue
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import run_model

LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernelEx",
            "cudaLaunchCooperativeKernel", "cuLaunchCooperativeKernel", "cudaGraphLaunch", "cuGraphLaunch")
HERE = os.path.dirname(os.path.abspath(__file__))
INPUT = os.path.join(HERE, "..", "examples", "input.json")
LAYOUTS = os.path.join(HERE, "..", "simcuda", "testdata", "layout_check.c")
PATHS = ("eager", "compiled", "graph", "cublas", "cudnn")
REPEATS = 20
# Student's t for intervals of 95 %, by degrees of freedom (Abramowitz, Stegun 1964, table 26.10).
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306}
CHECK_S = {"cuda": 120, "sim": 240}  # a check may take this long; a busy machine simulates slowly
AGREE = 0.03  # the probe's blocks differ by no more than this on an idle device

# What the workers do on the simulated device: kernels of a job, nanoseconds each, kernels
# of a graph (0: none), milliseconds of pause after a job, pauses of 50 ms within a job.
SIMULATED = {
    "large": (400, 100_000, 0, 0, 0), "urgent": (100, 50_000, 0, 20, 0), "graph": (400, 100_000, 50, 0, 0),
    "eager": (200, 20_000, 0, 0, 0), "waiting": (100, 20_000, 0, 10, 2), "spin": (1, 100_000, 0, 0, 0),
    "mobile": (160, 15_000, 0, 0, 0), "efficient": (150, 20_000, 150, 0, 0), "stream": (30, 180_000, 0, 0, 0), "request": (40, 10_000, 0, 5, 0),
    "training": (300, 20_000, 0, 0, 0), "recurrent": (250, 12_000, 0, 0, 0), "products": (100, 40_000, 0, 0, 0), "batches": (120, 20_000, 0, 20, 0),
}
# The same on a GPU: the pause after a job in milliseconds, where there is one.
PAUSE_MS = {"urgent": 50, "waiting": 10, "request": 5, "batches": 20}
# Programs that only use the driver: kernels of a job, nanoseconds each, nanoseconds from one launch to the next.
DRIVEN = {"paced": (227, 3_600, 17_500), "steady": (736, 26_000, 0)}
# Variables of both programs under MPS; without a client priority, deft exec sets that of the other one.
PLACED = {"mps": {"CUDA_MPS_CLIENT_PRIORITY": "0"}, "mps_priority": {}, "mps_partition": {"CUDA_MPS_CLIENT_PRIORITY": "0", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "50"}}
# The programs of the pairs. Intervals of deft pair hold for programs that nobody adjusted it to,
# so a second run on the same card uses other ones.
SMALL = ("mobile", "efficient", "stream", "request")


# ---- the driver, without PyTorch -------------------------------------------------

# A kernel of a fixed number of dependent steps. A kernel that waits for a clock would
# count the time in which another program has the device as its own work.
PTX = b"""
.version 6.3
.target sm_75
.address_size 64
.visible .entry spin(.param .u64 out, .param .u32 steps)
{
    .reg .pred %p<3>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [steps];
    mov.u32 %r2, 1;
again:
    mad.lo.s32 %r2, %r2, 1664525, 1013904223;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra again;
    setp.ne.u32 %p2, %r2, 12345;
    @%p2 bra done;
    st.global.u32 [%rd1], %r2;
done:
    ret;
}
.visible .entry wide(.param .u64 out, .param .u32 steps, .param .align 8 .b8 rest[2000])
{
    ret;
}
"""


class Driver:
    """The CUDA driver with one stream and one kernel whose time can be chosen."""

    def __init__(self, device):
        self.cu, self.steps_per_us = ctypes.CDLL("libcuda.so.1"), 0
        ordinal, context, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.functions, self.stream, self.out = {b"spin": ctypes.c_void_p(), b"wide": ctypes.c_void_p()}, ctypes.c_void_p(), ctypes.c_uint64()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(ordinal), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ordinal)
        self.call("cuCtxSetCurrent", context)
        self.call("cuModuleLoadData", ctypes.byref(module), PTX)
        for name, function in self.functions.items():
            self.call("cuModuleGetFunction", ctypes.byref(function), module, name)
        self.call("cuStreamCreate", ctypes.byref(self.stream), 1)
        self.call("cuMemAlloc_v2", ctypes.byref(self.out), ctypes.c_size_t(4))
        if device == "cuda":
            self.calibrate()

    def call(self, name, *args):
        """Calls the driver, and raises what it answers other than success."""
        if status := getattr(self.cu, name)(*args):
            raise Failed(f"{name}: the driver answers error {status}")

    def launch(self, ns, name=b"spin"):
        """Launches a kernel for so many nanoseconds; the wide one ends at once on a GPU."""
        if not self.steps_per_us:  # a simulated kernel takes a nanosecond per block
            self.call("cuLaunchKernel", self.functions[name], int(ns), 1, 1, 32, 1, 1, 0, self.stream, None, None)
            return
        steps, rest = ctypes.c_uint32(max(1, int(ns * self.steps_per_us / 1e3))), (ctypes.c_char * 2000)()
        args = (ctypes.c_void_p * 3)(ctypes.addressof(self.out), ctypes.addressof(steps), ctypes.addressof(rest))
        self.call("cuLaunchKernel", self.functions[name], 1, 1, 1, 32, 1, 1, 0, self.stream, args, None)

    def graph(self, kernels, ns=1000):
        """Returns an executable graph of so many kernels."""
        captured, replay = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuStreamBeginCapture_v2", self.stream, 1)
        for _ in range(kernels):
            self.launch(ns)
        self.call("cuStreamEndCapture", self.stream, ctypes.byref(captured))
        self.call("cuGraphInstantiateWithFlags", ctypes.byref(replay), captured, ctypes.c_uint64(0))
        return replay

    def wait(self):
        """Waits for all that was launched."""
        self.call("cuStreamSynchronize", self.stream)

    def event(self):
        """Returns a new event."""
        e = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(e), 0)
        return e

    def elapsed_ms(self, ns, kernels, events=None):
        """Returns the milliseconds from each kernel's end to the next one's end."""
        events = events or [self.event() for _ in range(kernels + 1)]
        self.call("cuEventRecord", events[0], self.stream)
        for i in range(kernels):
            self.launch(ns)
            self.call("cuEventRecord", events[i + 1], self.stream)
        self.wait()
        each = []
        for begin, end in zip(events, events[1:]):
            ms = ctypes.c_float()
            self.call("cuEventElapsedTime", ctypes.byref(ms), begin, end)
            each.append(ms.value)
        return each

    def calibrate(self):
        """Finds the steps of a microsecond, with the clocks up."""
        self.steps_per_us, until = 300.0, time.monotonic() + 0.5
        while time.monotonic() < until:
            self.steps_per_us /= statistics.median(self.elapsed_ms(1e6, 50))


def probe(device):
    """Prints the mean milliseconds of a fixed kernel in ten blocks of 0.2 s."""
    driver = Driver(device)
    events = [driver.event() for _ in range(201)]
    driver.elapsed_ms(1e6, 200, events)  # clocks and caches
    print(json.dumps([statistics.mean(driver.elapsed_ms(1e6, 200, events)) for _ in range(10)]))


def ahead(device):
    """Prints how many short launches the driver accepts behind a long kernel before a launch
    blocks, by what is launched; None if none of so many blocks."""
    driver, most = Driver(device), 6000
    other, event, graph = ctypes.c_void_p(), driver.event(), driver.graph(20)
    driver.call("cuStreamCreate", ctypes.byref(other), 1)
    first, second = driver.stream, other

    def recorded():
        driver.launch(1000)
        driver.call("cuEventRecord", event, driver.stream)

    def alternating():
        driver.stream = first if driver.stream is second else second
        driver.launch(1000)

    ways = {
        "kernels": lambda: driver.launch(1000), "kernels with arguments of 2 kB": lambda: driver.launch(1000, b"wide"), "kernels, each with an event": recorded,
        "kernels on two streams": alternating, "graphs of 20 kernels": lambda: driver.call("cuGraphLaunch", graph, driver.stream), "kernels again": lambda: driver.launch(1000),
    }
    found = {}
    for way, launch in ways.items():
        driver.stream = first
        launch()
        driver.wait()
        for stream in (second, first):  # each has a long kernel in front
            driver.stream = stream
            driver.launch(2e8)
        found[way] = None
        for n in range(most):
            begin = time.monotonic()
            launch()
            if time.monotonic() - begin > 0.03:
                found[way] = n
                break
        driver.call("cuCtxSynchronize")
    print(json.dumps(found))


def memory(device):
    """Prints the free, total and allocated bytes that the driver reports."""
    driver, free, total = Driver(device), ctypes.c_size_t(), ctypes.c_size_t()
    held, all_of_it = ctypes.c_uint64(), ctypes.c_size_t()
    driver.call("cuMemAlloc_v2", ctypes.byref(held), ctypes.c_size_t(64 << 20))
    driver.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    driver.call("cuDeviceTotalMem_v2", ctypes.byref(all_of_it), 0)
    driver.launch(1000)
    driver.wait()
    print(json.dumps({"free": free.value, "total": total.value, "device": all_of_it.value, "allocated": 64 << 20}))


# ---- programs that use PyTorch ---------------------------------------------------


def counted(events):
    """Sums the calls that launch, given pairs of API name and count."""
    return sum(count for name, count in events if name in LAUNCHES)


def work(torch, kind, batch=4):
    """Returns a function that does one round of a kind of work."""
    if kind == "cublas":
        a = torch.rand(512, 512, device="cuda")
        return lambda: a @ a
    if kind == "cudnn":
        x, w = torch.rand(4, 16, 64, 64, device="cuda"), torch.rand(32, 16, 3, 3, device="cuda")
        return lambda: torch.nn.functional.conv2d(x, w)
    import torchvision

    if kind in PAIRED:
        return PAIRED[kind](torch, torchvision.models)
    if kind == "waiting":
        return inference(torch, torchvision.models.resnet18, 1)
    model = torchvision.models.resnet50(weights=None).eval().cuda()
    x = torch.rand(batch, 3, 224, 224, device="cuda")
    if kind == "compiled":
        model = torch.compile(model)
    if kind != "graph":
        return lambda: model(x)
    return replayed(torch, lambda: model(x))


def replayed(torch, once):
    """Returns a function that replays one round of some work as a CUDA graph."""
    side = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(side):
        for _ in range(3):
            once()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        once()
    return graph.replay


def inference(torch, build, batch):
    """Returns a function that runs a classifier once."""
    model, x = build(weights=None).eval().cuda(), torch.rand(batch, 3, 224, 224, device="cuda")
    return lambda: model(x)


def streaming(torch, _):
    """Returns a function whose kernels are bound by the memory: 256 MiB read and written by each."""
    x, y = (torch.rand(64 << 20, device="cuda") for _ in range(2))
    return lambda: [torch.add(x, 1, out=y) for _ in range(20)]


def recurrent(torch, _):
    """Returns a function that runs an LSTM over 64 steps: short kernels in a row, without the host."""
    model, x = torch.nn.LSTM(512, 512, 2).eval().cuda(), torch.rand(64, 32, 512, device="cuda")
    return lambda: model(x)


def products(torch, _):
    """Returns a function that multiplies matrices in half precision."""
    a = torch.rand(2048, 2048, device="cuda", dtype=torch.float16)
    return lambda: [a @ a for _ in range(100)]


def training(torch, models):
    """Returns a function that does one step of training."""
    model, x = models.resnet18(weights=None).cuda(), torch.rand(16, 3, 224, 224, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step():
        with torch.enable_grad():
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()

    return step


# The programs of the pairs.
PAIRED = {
    "mobile": lambda torch, models: inference(torch, models.mobilenet_v3_large, 8), "efficient": lambda torch, models: replayed(torch, inference(torch, models.efficientnet_b0, 4)),
    "stream": streaming, "request": lambda torch, models: inference(torch, models.mobilenet_v3_small, 1),
    "training": training, "recurrent": recurrent, "products": products, "batches": lambda torch, models: inference(torch, models.resnet34, 2),
}


def launches(kind):
    """Prints the launches of the whole program, warm-up included."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    with torch.no_grad(), profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        once = work(torch, kind)
        for _ in range(REPEATS):
            once()
        torch.cuda.synchronize()
    events = [(e.key, e.count) for e in p.key_averages()]
    print(json.dumps({"kind": kind, "launches": counted(events)}))


def allocate(megabytes):
    """Holds memory for a moment."""
    import torch

    print(int(torch.zeros(megabytes << 20, dtype=torch.uint8, device="cuda")[-1].item()))


def loader():
    """Prints how many batches arrived from forked workers."""
    import torch

    torch.zeros(1, device="cuda")  # the parent has a context before it forks
    data = torch.utils.data.TensorDataset(torch.rand(256, 3, 64, 64))
    batches = torch.utils.data.DataLoader(data, batch_size=8, num_workers=4, multiprocessing_context="fork", pin_memory=True)
    n = 0
    for (x,) in batches:
        x.cuda(non_blocking=True).sum().item()
        n += 1
    print(f"batches {n}")


# ---- the worker --------------------------------------------------------------------


def simulated_job(driver, kind):
    """Returns a job of the simulated device."""
    kernels, ns, graph, _, pauses = SIMULATED[kind]
    replay = driver.graph(graph, ns) if graph else None

    def job():
        for i in range(kernels // graph if graph else kernels):
            if pauses and i % (kernels // (pauses + 1)) == 0 and i:
                driver.wait()
                time.sleep(0.05)
            driver.call("cuGraphLaunch", replay, driver.stream) if graph else driver.launch(ns)
        driver.wait()

    return job


def driven_job(driver, kind):
    """Returns a job whose host launches at its own pace."""
    kernels, ns, pace = DRIVEN[kind]

    def job():
        due = time.monotonic_ns()
        for _ in range(kernels):
            while time.monotonic_ns() < due:
                pass
            driver.launch(ns)
            due += pace
        driver.wait()

    return job


def gpu_job(kind):
    """Returns a job of a GPU, without gradients and with its end awaited."""
    import torch

    if kind in ("large", "urgent"):
        with open(INPUT, encoding="utf-8") as f:
            entry = json.load(f)["models"][kind == "urgent"]
        model = {"name": entry["model_name"], "batch": 1, "resize": True, "size": entry["resize_size"], "sync_level": ""}
        return run_model.load(model, "0", False)[0]
    once, rounds = work(torch, kind, 8), 3 if kind == "waiting" else 1

    def job():
        with torch.no_grad():
            for i in range(rounds):
                if i:
                    time.sleep(0.05)
                once()
                torch.cuda.synchronize()

    return job


def trace(job, path, jobs=5):
    """Writes what some jobs launched, in microseconds, from PyTorch's profiler (CUPTI)."""
    from torch.profiler import ProfilerActivity, profile

    bounds = []
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        for _ in range(jobs):
            begin = time.time_ns()
            job()
            bounds.append((begin / 1e3, time.time_ns() / 1e3))
    p.export_chrome_trace(path + ".chrome")
    with open(path + ".chrome", encoding="utf-8") as f:
        whole = json.load(f)
    os.remove(path + ".chrome")
    base = whole.get("baseTimeNanoseconds", 0) / 1e3
    events = [e for e in whole["traceEvents"] if "dur" in e and "cat" in e]
    called = {e["args"]["correlation"]: e["ts"] for e in events if e["cat"] in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
    zero = min(e["ts"] for e in events)

    def rows_of(kinds, *more):
        return sorted([round(called.get(e.get("args", {}).get("correlation"), e["ts"]) - zero, 3), round(e["ts"] - zero, 3), round(e["dur"], 3), *(e["args"].get(m, 0) for m in more)]
                      for e in events if e["cat"] in kinds)

    write(path, {
        "jobs": [[round(b - base - zero, 3), round(e - base - zero, 3)] for b, e in bounds],
        "kernels": rows_of(("kernel",)), "copies": rows_of(("gpu_memcpy", "gpu_memset"), "bytes"),
        "waits": sorted([round(e["ts"] - zero, 3), round(e["dur"], 3)] for e in events if e["cat"] == "cuda_runtime" and "Synchronize" in e["name"]),
        "columns": {"jobs": ["begin_us", "end_us"], "kernels": ["launch_us", "begin_us", "duration_us"], "copies": ["launch_us", "begin_us", "duration_us", "bytes"], "waits": ["begin_us", "duration_us"]},
    })


def job_of(kind, device):
    """Returns a job, its pause in seconds, and the driver if PyTorch is not used."""
    driver = Driver(device) if device == "sim" or kind in ("spin", *DRIVEN) else None
    if kind in DRIVEN:
        return driven_job(driver, kind), 0, driver
    return simulated_job(driver, kind) if driver else gpu_job(kind), pause_ms(kind, device) / 1e3, driver


def pause_ms(kind, device):
    """Returns the milliseconds between two jobs."""
    if kind in DRIVEN:
        return 0
    return SIMULATED[kind][3] if device == "sim" else PAUSE_MS.get(kind, 0)


def forever(kind, device, lock=None):
    """Does one kind of work until this process is killed, or its parent ends. With a lock, only
    one of several such programs has the device; the next ones load meanwhile."""
    bound_to_parent()
    if device != "sim" and kind not in DRIVEN:
        import torchvision  # noqa: F401: all that takes seconds and no device
    if lock:
        held = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(held, fcntl.LOCK_EX)
    job, pause, _ = job_of(kind, device)
    while True:
        job()
        time.sleep(pause)


def worker(kind, log, device):
    """Does one kind of work as often as its standard input says."""
    lines = queue.Queue()
    def read():
        for line in sys.stdin:
            lines.put(line.split())
        os._exit(0)  # the checks have ended, one way or another

    (job, pause, driver), (begin, end) = job_of(kind, device), run_model.marks()
    for _ in range(3):
        job()
    if cpus := os.environ.get("CHECKS_CPUS"):
        os.sched_setaffinity(0, map(int, cpus.split(",")))
    threading.Thread(target=read, daemon=True).start()
    print(f"ready {os.getpid()}", flush=True)
    with open(log, "w", encoding="utf-8") as f:
        print("start_timestamp_ns,end_timestamp_ns,jct_ms", file=f, flush=True)
        while True:
            command, *args = lines.get()
            if command == "trace":
                trace(job, args[0])
            elif command == "gaps":
                events = [driver.event() for _ in range(401)]
                write(args[1], [driver.elapsed_ms(1e5, 400, events) for _ in range(int(args[0]))])
            else:
                until = time.monotonic() + float(args[0])
                while time.monotonic() < until:
                    started = time.monotonic_ns()
                    begin(0)
                    job()
                    end()
                    ended = time.monotonic_ns()
                    print(f"{started},{ended},{(ended - started) / 1e6:.6f}", file=f, flush=True)
                    time.sleep(pause)
            print("done", flush=True)


# ---- figures -----------------------------------------------------------------------


class Failed(Exception):
    """A check came to no answer."""


class Skipped(Exception):
    """This machine lacks what a check needs."""


def ratio(with_it, without):
    """Returns the ratio of two means with its 95 % interval, from the means of
    five blocks of consecutive jobs each: Welch's, on logarithms."""
    return welch(*([math.log(m) for m in blocks(v)] for v in (with_it, without)))


def welch(a, b):
    """Returns the ratio of two geometric means with its 95 % interval, from logarithms."""
    spread = math.sqrt(statistics.variance(a) / len(a) + statistics.variance(b) / len(b))
    middle, far = statistics.mean(a) - statistics.mean(b), STUDENT[min(len(a) + len(b) - 2, 8)] * spread
    return {"value": math.exp(middle), "low": math.exp(middle - far), "high": math.exp(middle + far)}


def blocks(values, n=5):
    """Returns the means of n runs of consecutive values."""
    if len(values) < 2 * n:
        raise Failed(f"{len(values)} jobs are too few, want {2 * n}: use more --seconds")
    return [statistics.mean(values[i * len(values) // n:(i + 1) * len(values) // n]) for i in range(n)]


def halved(none, priority):
    """Says whether a policy takes away at least half of what the other job costs."""
    return none["low"] <= 1.05 or priority["value"] - 1 <= (none["value"] - 1) / 2


def shown(r):
    """Returns a ratio and its interval as text."""
    return f"{r['value']:.3g} [{r['low']:.3g}, {r['high']:.3g}]"


def disagreement(means):
    """Returns the range of repeats over their median."""
    return (max(means) - min(means)) / statistics.median(means)


def turns(alone, shared):
    """Returns how two contexts alternate, from the milliseconds between the ends of equal
    kernels, in blocks between two waits of the host: the turn is the time of the own kernels
    between two interruptions, and an interruption is the other's turn and two switches."""
    each = statistics.median(ms for block in alone for ms in block)
    gaps, own = [], []
    for block in shared:
        run = None  # how much of a turn was seen, from an interruption on
        for ms in block:
            if ms > 1.5 * each:
                gaps.append(ms - each)
                if run is not None:
                    own.append(run + each / 2)
                run = each / 2
            elif run is not None:
                run += ms
    if len(own) < 5:
        return None
    turn, gap = statistics.median(own), statistics.median(gaps)
    return {"turn_ms": turn, "gap_ms": gap, "switch_ms": (gap - turn) / 2, "gaps": len(gaps)}


def compared(way, predicted, measured):
    """Returns the errors of predicted speeds, those of simple rules, and the share of speeds
    inside their intervals. The rules: half the speed for each; 1/(1 + the product of both
    programs' busy shares); the mean speed of the other programs next to the same partner; the
    device model for hosts that launch at once."""
    speeds = {tuple(m["programs"]): m["speeds"] for m in measured}
    rows, errors = [], {}
    for p in (p for p in predicted if tuple(p["programs"]) in speeds):
        a, b = p["programs"]
        found, = (w["speed"] for w in p["predicted"] if w["way"] == way)
        hurried = [w["speed"] for w in p.get("hurried", ()) if w["way"] == way]
        for i, (name, partner) in enumerate(((a, b), (b, a))):
            measured_speed = speeds[a, b][i]
            others = [v for pair, both in speeds.items() for other, v in zip(pair, both) if partner in pair and other not in (name, partner)]
            rules = {"deft": found[i]["value"], "half": 0.5, "busy shares": 1 / (1 + math.prod(p["busy"]))}
            if others:
                rules["partner's mean"] = statistics.mean(others)
            if hurried:
                rules["without the host's pace"] = hurried[0][i]["value"]
            rows.append({"program": name, "next_to": partner, "measured": measured_speed, "low": found[i]["low"], "high": found[i]["high"], **rules})
            for rule, value in rules.items():
                errors.setdefault(rule, []).append(abs(value - measured_speed))
    return {
        "median_errors": {rule: statistics.median(e) for rule, e in errors.items()},
        "inside": statistics.mean(r["low"] <= r["measured"] <= r["high"] for r in rows), "speeds": len(rows), "rows": rows,
    }


# ---- processes ---------------------------------------------------------------------


def bound_to_parent():
    """Has the kernel end this process when its parent ends (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)


def rows(path):
    """Counts the rows of a job log that are there by now."""
    try:
        with open(path, encoding="utf-8") as f:
            return max(0, sum(1 for _ in f) - 1)
    except FileNotFoundError:
        return 0


def times(path, first=0):
    """Returns the milliseconds of a log's jobs from a row on."""
    with open(path, encoding="utf-8") as f:
        return [float(row["jct_ms"]) for row in csv.DictReader(f)][first:]


def stop(p):
    """Ends a program and all that it started."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            p.wait(timeout=1.5)
            return


class Worker:
    """One worker process, and the end of its standard input that keeps it alive."""

    def __init__(self, checks, kind, log, under=(), env=None):
        self.checks, self.kind, self.log, self.lines = checks, kind, log, queue.Queue()
        argv = [*under, sys.executable, __file__, "worker", kind, log, "--device", checks.args.device]
        self.errors = open(log + ".err", "w+", encoding="utf-8")  # noqa: SIM115: closed by close
        self.p = checks.start(argv, env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        """Passes on what the worker prints."""
        with contextlib.suppress(ValueError):
            for line in self.p.stdout:
                self.lines.put(line.split())
        self.lines.put(None)

    def answer(self):
        """Returns the next line of the worker, as words."""
        while True:
            try:
                line = self.lines.get(timeout=0.1)
            except queue.Empty:
                line = None if self.p.poll() is not None else ()
            if line:
                return line
            if line is None or time.monotonic() > self.checks.end:
                self.errors.seek(0)
                said = self.errors.read().strip()[-300:]
                raise Failed(f"the worker {self.kind} " + (f"ended: {said}" if line is None else f"was not ready in time {said}"))

    def ready(self):
        """Waits until the worker has loaded its work."""
        self.pid = int(self.answer()[1])

    def send(self, *words):
        """Sends a command."""
        try:
            self.p.stdin.write(" ".join(map(str, words)) + "\n")
            self.p.stdin.flush()
        except OSError as e:
            raise Failed(f"the worker {self.kind} ended: {e}") from e

    def run(self, seconds):
        """Begins a run, and remembers the rows before it."""
        self.first = rows(self.log)
        self.send("run", seconds)

    def done(self):
        """Waits for the end of a run; returns its milliseconds by job."""
        self.answer()
        return times(self.log, self.first)

    def close(self):
        """Ends the worker: its standard input ends, and a signal follows if it has to."""
        with contextlib.suppress(OSError):
            self.p.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.p.wait(timeout=3)
        stop(self.p)
        self.errors.close()


@contextlib.contextmanager
def mps(checks):
    """Runs MPS, with a pipe and a log of its own, in the foreground of this program; yields the
    environment of its clients. The simulated device only changes its order."""
    if checks.sim:
        yield {"SIMCUDA_ORDER": "mps"}
        return
    env = {"CUDA_MPS_PIPE_DIRECTORY": checks.file("mps"), "CUDA_MPS_LOG_DIRECTORY": checks.file("mps-log")}
    for path in env.values():
        os.makedirs(path, exist_ok=True)

    def control(text):
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(["nvidia-cuda-mps-control"], input=text + "\n", text=True, env={**os.environ, **env}, capture_output=True, check=False, timeout=8)

    p = checks.start(["nvidia-cuda-mps-control", "-f"], env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        if p.poll() is not None:
            raise Failed(f"MPS did not start: exit {p.returncode}")
        yield env
    finally:
        control("quit -t 3")
        stop(p)


# ---- the checks ----------------------------------------------------------------------


class Checks:
    """The checks, on one device."""

    def __init__(self, args, scratch):
        self.args, self.scratch, self.sim, self.sessions, self.end, self.reasons = args, scratch, args.device == "sim", 0, 0, []

    def want(self, holds, reason):
        """Keeps the reason if something does not hold; returns whether it does."""
        if not holds:
            self.reasons.append(reason)
        return holds

    def start(self, argv, env=None, **pipes):
        """Starts a program in a process group of its own, which ends with this process."""
        return subprocess.Popen(argv, env={**os.environ, **(env or {})}, text=True, start_new_session=True, preexec_fn=bound_to_parent, **pipes)

    def run(self, argv, env=None):
        """Runs a program to its end; returns its status and both outputs."""
        p = self.start(argv, env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = p.communicate(timeout=max(1, self.end - time.monotonic()))
        except subprocess.TimeoutExpired as e:
            raise Failed(f"{' '.join(argv[:4])} ...: not done in the time of a check") from e
        finally:
            stop(p)
        return p.returncode, out, err

    def must(self, argv, env=None):
        """Runs a program that has to succeed."""
        status, out, err = self.run(argv, env)
        if status:
            raise Failed(f"{' '.join(argv)}: exit {status}: {(err.strip() or out.strip() or 'no message').splitlines()[-1]}")
        return out, err

    def doctor(self, argv, env=None):
        """Returns deft's diagnosis of a program, and the program's output; raises it if it is no success."""
        status, out, err = self.run([self.args.deft, "doctor", "--json", "--", *argv], env)
        saw = json.loads(out) if out.strip() else {"verdict": "no diagnosis", "findings": []}
        if status:
            raise Failed("; ".join([f"deft doctor: {saw['verdict']}", *saw["findings"], *err.strip().splitlines()[-1:]]))
        return saw, err

    def own(self, *argv):
        """Returns the command of one of the programs of this file."""
        return [sys.executable, __file__, *argv, "--device", self.args.device]

    def file(self, name):
        """Returns the path of a file that goes with the checks."""
        return os.path.join(self.scratch, name)

    def session(self):
        """Returns the flags of a new session."""
        self.sessions += 1
        return ["--device", self.args.device, "--session", f"checks-{os.getpid()}-{self.sessions}"]

    def ctl(self, session, *words):
        """Sends a request to a session's owner; returns the answer."""
        return self.must([self.args.deft, "ctl", words[0], *session, *words[1:]])[0]

    @contextlib.contextmanager
    def workers(self, kinds, env=None, urgent=None, priorities=False):
        """Runs workers in one session, loaded and idle; yields them by kind, and the session. With
        priorities, each is more urgent than those before it."""
        session, all_of_them = self.session(), {}
        try:
            for i, kind in enumerate(kinds):
                name = f"{kind}-{i}"
                flags = ["--name", name, *(["--priority", str(i if priorities else 1)] if priorities or kind == urgent else [])]
                all_of_them[name if kind in all_of_them else kind] = Worker(
                    self, kind, self.file(f"{self.sessions}-{name}.csv"), [self.args.deft, "exec", *session, *flags, "--"], env)
            for w in all_of_them.values():
                w.ready()
            self.ctl(session, "policy", "none")
            yield all_of_them, session
        finally:
            for w in all_of_them.values():
                with contextlib.suppress(OSError):
                    w.p.stdin.close()
            for w in all_of_them.values():
                w.close()
            with contextlib.suppress(Failed):
                self.ctl(session, "stop")

    def together(self, workers, seconds=None):
        """Has workers run at the same time; returns the milliseconds by job of each."""
        for w in workers:
            w.run(seconds or self.args.seconds)
        return [w.done() for w in workers]

    def shared(self, other, urgent):
        """Times an urgent job and another, alone and next to each other: in time slices and in
        three ways under MPS, each without and with policy priority. Returns the milliseconds of
        each job, the ratio of each job's time to its time alone, and the way with the fastest
        other job of those in which the urgent one takes at most 1.1."""
        raw, ratios = {"alone": {}}, {}

        def judge(session, w, names):
            for policy, name in names.items():
                self.ctl(session, "policy", policy)
                b, a = self.together([w[urgent], w[other]])
                raw[name] = {"urgent_ms": b, "other_ms": a}
                ratios[name] = {"urgent": ratio(b, raw["alone"]["urgent_ms"]), "other": ratio(a, raw["alone"]["other_ms"])}

        with self.workers((other, urgent), urgent=urgent) as (w, session):
            raw["alone"]["urgent_ms"], = self.together([w[urgent]])
            raw["alone"]["other_ms"], = self.together([w[other]])
            judge(session, w, {"none": "none", "priority": "priority"})
        if self.has_mps():
            with mps(self) as env:
                for way, placed in PLACED.items():
                    with self.workers((other, urgent), env | placed, urgent) as (w, session):
                        judge(session, w, {"none": way, "priority": way + "_deft"})
        best = min((r["other"]["value"], way) for way, r in ratios.items() if r["urgent"]["value"] <= 1.1 or way == "priority")
        return {"ratios": ratios, "best": best[1], "raw": raw}

    # ---- by number ----

    def urgent(self):
        """The urgent job next to one that launches kernel by kernel."""
        m = self.shared("large", "urgent")
        none, priority = (m["ratios"][p]["urgent"] for p in ("none", "priority"))
        return m, self.want(halved(none, priority), f"the urgent job takes {shown(priority)} of its time alone under priority, want half of the cost under none, {shown(none)}")

    def graphs(self):
        """The urgent job next to one that launches graphs."""
        m = self.shared("graph", "urgent")
        none, priority = (m["ratios"][p]["urgent"] for p in ("none", "priority"))
        return m, self.want(halved(none, priority), f"the urgent job takes {shown(priority)} of its time alone under priority, want half of the cost under none, {shown(none)}")

    def unused(self):
        """An urgent job that mostly waits for its host, and one that is stopped: the other goes on."""
        with self.workers(("large", "waiting"), urgent="waiting") as (w, session):
            raw = {"alone": dict(zip(("urgent_ms", "other_ms"), [self.together([w[k]])[0] for k in ("waiting", "large")]))}
            for policy in ("none", "priority"):
                self.ctl(session, "policy", policy)
                raw[policy] = dict(zip(("urgent_ms", "other_ms"), self.together([w["waiting"], w["large"]])))
            w["waiting"].run(30)
            time.sleep(0.3)
            os.kill(w["waiting"].pid, signal.SIGSTOP)
            try:
                w["large"].run(self.args.seconds)
                time.sleep(self.args.seconds)
                raw["stopped"] = {"other_ms": times(w["large"].log, w["large"].first)}
            finally:
                os.kill(w["waiting"].pid, signal.SIGCONT)
        found = {
            "other_of_none": ratio(raw["priority"]["other_ms"], raw["none"]["other_ms"]), "other_of_alone_next_to_stopped": ratio(raw["stopped"]["other_ms"], raw["alone"]["other_ms"]),
            "urgent_of_alone": ratio(raw["priority"]["urgent_ms"], raw["alone"]["urgent_ms"]), "raw": raw,
        }
        wants = {"other_of_none": 1 / 0.9, "other_of_alone_next_to_stopped": 1 / 0.9, "urgent_of_alone": 1.05}
        return found, all([self.want(found[what]["low"] <= most, f"{what}: {shown(found[what])}, want {most:.3g}") for what, most in wants.items()])

    def measure_pairs(self, w, alone=None):
        """Times workers alone and by twos. A speed is the rate of jobs, pauses included, relative
        to the rate alone. Alone they run before and after, as a host's speed may drift."""
        seconds = self.args.seconds / 4
        found = {"seconds": seconds, "pause_ms": {k: pause_ms(k, self.args.device) for k in w}, "pairs": []}
        if not alone:
            found["alone_ms"] = alone = {k: self.together([w[k]], seconds / 2)[0] for k in w}
        for i, a in enumerate(w):
            for b in list(w)[i + 1:]:
                found["pairs"].append({"programs": [a, b], "ms": self.together([w[a], w[b]], seconds)})
        for k in w:
            alone[k] += self.together([w[k]], seconds / 2)[0]
        for p in found["pairs"]:
            p["speeds"] = [(statistics.mean(alone[k]) + found["pause_ms"][k]) / (statistics.mean(ms) + found["pause_ms"][k]) for k, ms in zip(p["programs"], p["ms"])]
        return found

    def slices(self):
        """Four programs by twos under time slices, then under priority: of two programs the later one is urgent."""
        with self.workers(SMALL, priorities=True) as (w, session):
            found = self.measure_pairs(w)
            self.ctl(session, "policy", "priority")
            found["priority"] = self.measure_pairs(w, found["alone_ms"])
            found["traces"] = {}
            for k in () if self.sim else w:
                w[k].send("trace", self.file(k + ".json"))
                w[k].answer()
                with open(self.file(k + ".json"), encoding="utf-8") as f:
                    found["traces"][k] = json.load(f)
        return found, len(found["pairs"]) == len(found["priority"]["pairs"]) == 6

    def under_mps(self):
        """The same four programs by twos under MPS: equal, with half of the processors each, and the
        first one below the others' priority."""
        self.needs_mps()
        found = {}
        with mps(self) as env:
            for way, placed in PLACED.items():
                with self.workers(SMALL, env | placed, priorities=True) as (w, _):
                    found[way] = self.measure_pairs(w)
        found["mps_priority"]["pairs"] = [p for p in found["mps_priority"]["pairs"] if SMALL[0] in p["programs"]]
        return found, len(found["mps"]["pairs"]) == len(found["mps_partition"]["pairs"]) == 6

    def needs_mps(self):
        """Skips a check where there is no MPS."""
        if not self.has_mps():
            raise Skipped("needs MPS: nvidia-cuda-mps-control")

    def has_mps(self):
        """Says whether MPS can be started."""
        return self.sim or shutil.which("nvidia-cuda-mps-control")

    def predicted(self):
        """What deft pair says of the same pairs, from each program alone."""
        lock, paths = self.file("turn"), {}
        seconds = f"{max(1, self.args.seconds * 0.6)}s"

        def record(a, b):
            directory = self.file(f"pair-{a}")
            self.must([self.args.deft, "pair", "--device", self.args.device, "--duration", seconds, "--out-dir", directory, "--", *self.own("job", a, lock), "--", *self.own("job", b, lock)])
            for kind, name in ((a, "a.json"), (b, "b.json")):
                paths[kind] = os.path.join(self.args.out, f"pair-{kind}.json")
                shutil.move(os.path.join(directory, name), paths[kind])

        def hurried(path):
            with open(path, encoding="utf-8") as f:
                t = json.load(f)
            for launch in t["launches"]:
                launch["gap_ns"] = launch["gap_ns"] if launch.get("wait") else 0
            write(self.file("hurried-" + os.path.basename(path)), t)
            return self.file("hurried-" + os.path.basename(path))

        def predict(a, b):
            return json.loads(self.must([self.args.deft, "pair", "--recordings", a, b, "--json"])[0])

        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as several:
            list(several.map(record, SMALL[::2], SMALL[1::2]))
            found = {"recordings": {kind: os.path.basename(path) for kind, path in paths.items()}, "pairs": []}
            quick = {k: hurried(path) for k, path in paths.items()}
            each = [(a, b, *(several.submit(predict, *args) for args in ((paths[a], paths[b]), (quick[a], quick[b])))) for i, a in enumerate(SMALL) for b in SMALL[i + 1:]]
            for a, b, plain, quickly in each:
                said = plain.result()
                found["pairs"].append({
                    "programs": [a, b], "predicted": said["ways"], "busy": [p["device_busy"] for p in said["programs"]], "overhead": [p["overhead"] for p in said["programs"]],
                    "hurried": quickly.result()["ways"]})
        measured = {}
        if result := kept(os.path.join(self.args.out, "check-21.json"), self.args.device):
            measured = {"time slices": result["measured"], "priority, B urgent": result["measured"]["priority"]}
        if result := kept(os.path.join(self.args.out, "check-25.json"), self.args.device):
            measured |= {"MPS": result["measured"]["mps"], "MPS with priority, B urgent": result["measured"]["mps_priority"], "MPS, half each": result["measured"]["mps_partition"]}
        for way, m in measured.items():
            found[way] = compared(way, found["pairs"], m["pairs"])
        return found, len(found["pairs"]) == 6

    def constants(self):
        """How contexts take turns on this device, and how far a host runs ahead."""
        found = {"accepted_before_blocking": json.loads(self.must(self.own("ahead"))[0])}
        with self.workers(("spin", "spin")) as (w, _):
            first, second = w.values()

            def gaps(*some):
                paths = [self.file(f"gaps-{i}.json") for i in range(len(some))]
                for p, path in zip(some, paths):
                    p.send("gaps", 8, path)
                for p in some:
                    p.answer()
                return [json.load(open(path, encoding="utf-8")) for path in paths]

            alone, = gaps(first)
            found["alone_kernel_ms"] = statistics.median(ms for block in alone for ms in block)
            shared = [blocks[:6] for blocks in gaps(first, second)]  # until the end of one, the other's last blocks are alone
        found |= {"turns": [turns(alone, s) for s in shared], "shared_kernel_ms": [[[round(ms, 5) for ms in block] for block in s] for s in shared]}
        return found, self.want(all(found["turns"]), f"a program did not see the turns of the other: {found['turns']}")

    def paced(self):
        """An urgent program that launches more slowly than the device works, next to one that fills the device."""
        found = {}

        def measure(how, env=None):
            with self.workers(("steady", "paced"), env, urgent="paced") as (w, session):
                raw = {"alone": dict(zip(("urgent_ms", "other_ms"), [self.together([w[k]], self.args.seconds / 5)[0] for k in ("paced", "steady")]))}
                for policy in ("none", "priority"):
                    self.ctl(session, "policy", policy)
                    raw[policy] = dict(zip(("urgent_ms", "other_ms"), self.together([w["paced"], w["steady"]], self.args.seconds / 2)))
                raw["shown"] = self.watched(w["steady"], session)
            mean = {policy: {k: statistics.mean(v) if v else None for k, v in raw[policy].items()} for policy in ("alone", "none", "priority")}
            found[how] = {"of_alone": {policy: {k.removesuffix("_ms"): v and v / mean["alone"][k] for k, v in mean[policy].items()} for policy in ("none", "priority")}, "raw": raw}

        measure("time slices")
        if not self.has_mps():
            urgent = found["time slices"]["of_alone"]["priority"]["urgent"]
            return found, self.want(urgent <= 1.1, f"the urgent program takes {urgent:.3g} of its time alone, want 1.1")
        with mps(self) as env:
            measure("MPS", env)
        urgent = [f["of_alone"]["priority"]["urgent"] for f in found.values()]
        other = found["MPS"]["of_alone"]["priority"]["other"] or math.inf
        if self.sim:  # its host's load decides
            return found, self.want(other <= 10, f"the other program takes {other:.3g} of its time alone under MPS, want 10")
        return found, all([self.want(max(urgent) <= 1.1, f"the urgent program takes {urgent} of its time alone, want 1.1"),
                           self.want(other <= 1.5, f"the other program takes {other:.3g} of its time alone under MPS, want 1.5")])

    def seen_by_nvml(self):
        """What nvidia-smi lists for programs under deft exec, and what they see of the device's memory."""
        found = {"idle": self.snapshot()}
        for quota in ((), ("--memory-quota", "256MiB")):
            argv = [self.args.deft, "exec", *self.session(), *quota, "--", *self.own("memory")]
            found["memory, " + (quota[1] if quota else "no quota")] = json.loads(self.must(argv)[0])
        with self.workers(("steady",)) as (w, session):
            found["busy"] = self.watched(w["steady"], session)
        total = found["memory, 256MiB"]["total"]
        return found, all([self.want(found["busy"]["deft"]["clients"], "deft does not list the program"), self.want(total == 256 << 20, f"the driver reports {total} bytes under a quota of 256 MiB")])

    def watched(self, w, session):
        """Returns what nvidia-smi and deft show of a program while it runs."""
        w.run(4)
        time.sleep(1.5)
        seen = {"pid": w.pid, "nvidia-smi": self.snapshot(), "deft": json.loads(self.ctl(session, "list", "--json"))}
        w.done()
        return seen

    def snapshot(self):
        """Returns what nvidia-smi and NVML show of the device; None without nvidia-smi."""
        smi, said = shutil.which("nvidia-smi"), {}
        if not smi:
            return None
        for what, query in (("processes", "--query-compute-apps=pid,process_name,used_memory"), ("device", "--query-gpu=utilization.gpu,utilization.memory,memory.used,memory.total,compute_mode")):
            status, out, err = self.run([smi, query, "--format=csv,noheader"])
            said[what] = out.strip().splitlines() if status == 0 else f"exit {status}: {err.strip() or out.strip()}"
        return said | {"nvml": card()["processes"]}

    def launches_seen(self):
        """Compares the hook's count with another's, for every launch path."""
        paths = ("eager", "graph") if self.sim else PATHS

        def one(kind):
            counts, result = self.file(kind + ".counts"), {"kind": kind, "hook": 0, "counted": 0}
            argv = [sys.executable, __file__, "launches", kind]
            if self.sim:
                argv = ["deft-workload", "--kernels", "100", "--kernel-ns", "10000", "--jobs", "5", *(["--graph-kernels", "50"] if kind == "graph" else [])]
            try:
                saw, err = self.doctor(argv, {"SIMCUDA_COUNTS": counts})
                result |= {"verdict": saw["verdict"], "findings": saw["findings"]}
                result["hook"] = saw["launches"] + sum(p["captured"] for p in saw["processes"])
                if self.sim:
                    with open(counts, encoding="utf-8") as f:
                        err = f.read()
                result["counted"] = [json.loads(line) for line in err.splitlines() if line.startswith("{")][-1]["launches"]
            except (Failed, LookupError, ValueError) as e:
                result["error"] = str(e)
            seen[kind] = result

        seen = {}
        each = [threading.Thread(target=one, args=(kind,)) for kind in paths]
        for t in each:
            t.start()
        for t in each:
            t.join()
        return [seen[k] for k in paths], all([self.want(s["hook"] == s["counted"] > 0, f"{k}: {s['hook']} launches seen, {s['counted']} counted {s.get('error', '')}") for k, s in seen.items()])

    def cost(self):
        """Times the same work without and with the hook by turns, in three processes each, all
        loaded: two processes of the same program differ by more than the hook costs."""
        raw, some = {"without": {}, "with": {}}, ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))  # one place for all: only one runs at a time
        hook = self.must([self.args.deft, "build-hook", "--out-dir", self.file("hook")])[0].strip()
        workers = [(how, i, Worker(self, "eager", self.file(f"{how}-{i}.csv"), (), {"CHECKS_CPUS": some, **({"LD_PRELOAD": hook} if how == "with" else {})}))
                   for i in range(3) for how in raw]
        try:
            for _, _, w in workers:
                w.ready()
            for turn in range(20):  # shorter than the seconds in which the host's speed changes
                for how, i, w in workers[::1 - 2 * (turn % 2)]:
                    ms, = self.together([w], self.args.seconds / 40)
                    raw[how].setdefault(i, []).append(ms)
        finally:
            for _, _, w in workers:
                w.close()
        each = {how: [statistics.mean(math.log(statistics.median(ms)) for ms in turns) for turns in by.values()] for how, by in raw.items()}
        found = {"ratio": welch(each["with"], each["without"]), "processes": {how: [math.exp(x) for x in v] for how, v in each.items()}, "raw_ms": raw}
        return found, self.want(found["ratio"]["low"] <= 1.01, f"with the hook the work takes {shown(found['ratio'])} of the time without, want 1.01")

    def original(self):
        """The original's main job: two detectors, without and with a policy, and its plot."""
        found = {}
        for policy in (None, "priority"):
            out = self.file(f"run-{policy}")
            self.must([self.args.deft, "run", "-f", INPUT, "--device", self.args.device, "--duration", f"{self.args.seconds}s", "--out-dir", out,
                       *(["--policy", policy] if policy else [])])
            logs = {k: os.path.join(out, f"model_{k}.csv") for k in "AB"}
            found[policy or "without"] = {k: times(path, 1) for k, path in logs.items()}
        plot = os.path.join(self.args.out, "check-23.svg")
        self.must([self.args.deft, "plot", "jct-timeseries", "--model-A-jct-log", logs["A"], "--model-B-jct-log", logs["B"], "--out", plot])
        return found, self.want(all(len(v) >= 10 for f in found.values() for v in f.values()) and os.path.getsize(plot) > 0, f"fewer than 10 jobs: { {p: {k: len(v) for k, v in f.items()} for p, f in found.items()} }")

    def quota(self):
        """A program may hold what its quota says, and no more."""
        held = {}
        for megabytes in (64, 512):
            argv = [sys.executable, __file__, "allocate", str(megabytes)]
            if self.sim:
                argv = ["deft-workload", "--kernels", "1", "--kernel-ns", "1000", "--jobs", "1", "--mem-bytes", str(megabytes << 20)]
            status, _, err = self.run([self.args.deft, "exec", *self.session(), "--memory-quota", "256MiB", "--", *argv])
            held[str(megabytes)] = {"exit": status, "said": (err.strip().splitlines() or [""])[-1]}
        return held, self.want(held["64"]["exit"] == 0 and held["512"]["exit"] != 0, f"64 MiB: {held['64']}, 512 MiB: {held['512']}")

    def death(self):
        """Kills the other job with -9: the urgent one goes on, and the session forgets the dead."""
        with self.workers(("large", "urgent"), urgent="urgent") as (w, session):
            self.ctl(session, "policy", "priority")
            w["large"].run(60)
            before, = self.together([w["urgent"]], self.args.seconds / 2)
            w["urgent"].run(self.args.seconds / 2)
            time.sleep(self.args.seconds / 8)
            os.kill(w["large"].pid, signal.SIGKILL)
            after = w["urgent"].done()
            left = [c["name"] for c in json.loads(self.ctl(session, "list", "--json"))["clients"] if c["name"].startswith("large")]
        longest = max(after) / statistics.median(before)
        return {"longest_of_usual": longest, "before_ms": before, "after_ms": after, "still_listed": left}, self.want(longest <= 20 and not left, f"the longest job took {longest:.3g} times the usual time, want 20; still listed: {left}")

    def forked(self):
        """Forked workers feed a program under the hook."""
        if self.sim:
            raise Skipped("needs PyTorch on a GPU")
        out = self.must([self.args.deft, "exec", *self.session(), "--", sys.executable, __file__, "loader"])[0].strip()
        return out, self.want(out == "batches 32", f"{out}, want batches 32")

    def layouts(self):
        """NVIDIA's header agrees with the hook's structures."""
        header, compiler = cuda_header(), shutil.which("cc")
        if missing := [name for name, found in (("cuda.h", header), ("cc", compiler)) if not found]:
            raise Skipped("needs " + " and ".join(missing))
        status, _, err = self.run([compiler, "-fsyntax-only", "-I" + os.path.dirname(header), LAYOUTS])
        return {"header": header, "output": err}, self.want(status == 0, err)


# By number, in the order in which they run.
CHECKS = {
    15: ("the urgent job", Checks.urgent), 19: ("the urgent job next to graphs", Checks.graphs), 22: ("how contexts take turns", Checks.constants),
    21: ("pairs under time slices", Checks.slices), 25: ("pairs under MPS", Checks.under_mps), 26: ("predicted pairs", Checks.predicted),
    24: ("gaps of the urgent job", Checks.unused), 27: ("gaps between launches", Checks.paced), 23: ("the original's experiment", Checks.original), 16: ("a killed program", Checks.death), 20: ("memory quota", Checks.quota),
    28: ("nvidia-smi", Checks.seen_by_nvml), 18: ("layouts", Checks.layouts), 17: ("forked workers", Checks.forked), 13: ("every launch is seen", Checks.launches_seen),
    14: ("cost of the hook", Checks.cost),
}


# ---- before the checks -----------------------------------------------------------------


def cuda_header():
    """Returns cuda.h of a wheel or of a toolkit, or None."""
    inside = [os.path.join(p, "nvidia", "*", "include", "cuda.h") for p in sys.path if p]
    return next((h for pattern in [*inside, "/usr/local/cuda*/include/cuda.h"] for h in glob.glob(pattern)), None)


class Process(ctypes.Structure):
    """nvmlProcessInfo_t of NVML 11 and later."""

    _fields_ = [("pid", ctypes.c_uint), ("memory", ctypes.c_ulonglong), ("gpu", ctypes.c_uint), ("compute", ctypes.c_uint)]


def card():
    """Returns the first GPU's name, its driver, and the processes that use it, by NVML or
    else by the files that /proc shows open."""
    found, pids, listed = {"name": None, "driver": None}, set(), False
    with contextlib.suppress(OSError, AttributeError):
        cu, bus = ctypes.CDLL("libcuda.so.1"), ctypes.create_string_buffer(32)
        if cu.cuInit(0) or cu.cuDeviceGetPCIBusId(bus, 32, 0):
            raise OSError("no device")
        nvml, handle, text = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p(), ctypes.create_string_buffer(96)
        nvml.nvmlInit_v2()
        if nvml.nvmlDeviceGetHandleByPciBusId_v2(bus, ctypes.byref(handle)) == 0:
            for key, get in (("name", lambda: nvml.nvmlDeviceGetName(handle, text, 96)), ("driver", lambda: nvml.nvmlSystemGetDriverVersion(text, 96))):
                if get() == 0:
                    found[key] = text.value.decode()
            some, n = (Process * 64)(), ctypes.c_uint(64)
            if nvml.nvmlDeviceGetComputeRunningProcesses_v3(handle, ctypes.byref(n), some) == 0:
                pids, listed = {some[i].pid for i in range(n.value)}, True
    for link in () if listed else glob.glob("/proc/[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.readlink(link).startswith("/dev/nvidia") and os.readlink(link)[11:].isdigit():
                pids.add(int(link.split("/")[2]))
    return found | {"processes": sorted(pids - {os.getpid()})}


def command_line(pid):
    """Returns the command of a process, as far as it may be read."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as f:
        return f.read().replace(b"\0", b" ").decode(errors="replace").strip()[:80]
    return ""


def preflight(checks):
    """Returns what the checks use by name, its place or version, or None, and what speaks against
    measuring on this device now."""
    sim = checks.args.device == "sim"
    found, against = {"GPU": "simulated" if sim else None}, []
    with contextlib.suppress(OSError, AttributeError):
        driver, n = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(0)
        if not sim and driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(n)) == 0 and n.value > 0:
            found["GPU"] = f"{n.value} by libcuda.so.1"
    for module in ("torch", "torchvision"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[module] = importlib.metadata.version(module)
        found.setdefault(module)
    found |= {"compiler (cc)": shutil.which("cc"), "cuda.h": cuda_header(), "MPS": shutil.which("nvidia-cuda-mps-control")}
    if not found["GPU"]:
        return found, against
    saw, _ = checks.doctor(checks.own("memory"))
    found["diagnosis"] = {"verdict": saw["verdict"], "findings": saw["findings"]}
    if sim:
        return found, against
    found["card"] = card()
    found["probe_ms"] = json.loads(checks.must(checks.own("probe"))[0])
    against = [f"process {pid} uses the device: {command_line(pid)}" for pid in found["card"]["processes"]]
    if (apart := disagreement(found["probe_ms"])) > AGREE:
        against.append(f"the same kernel took times that are {100 * apart:.1f} % apart within 2 s, want {100 * AGREE:.0f} % at most: something else runs on the device")
    return found, against


def write(path, value):
    """Writes JSON to a file, whole or not at all."""
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(value, f)
        f.write("\n")
    os.replace(path + ".new", path)


def kept(path, device):
    """Returns the result of an earlier run if the check passed there."""
    with contextlib.suppress(OSError, ValueError, AttributeError), open(path, encoding="utf-8") as f:
        result = json.load(f)
        if result.get("passed") is True and result.get("device") == device:
            return result
    return None


def simulate(checks):
    """Makes programs outside of a session find the simulated driver and its workload too."""
    session = checks.session()
    out, _ = checks.must([checks.args.deft, "exec", *session, "--", "env", "-0"])
    paths = dict(line.split("=", 1) for line in out.split("\0") if line)
    os.environ.update({name: paths[name] for name in ("PATH", "LD_LIBRARY_PATH")})
    checks.ctl(session, "stop")


def check(args):
    """Runs the checks; returns the numbers of those that did not pass."""
    with tempfile.TemporaryDirectory(dir=args.out) as scratch:
        checks = Checks(args, scratch)
        os.environ["SIMCUDA_DEVICE"] = checks.file("device")  # of programs outside of a session
        os.environ["SIMCUDA_ORDER"] = "turns"
        checks.end = time.monotonic() + CHECK_S[args.device]
        if checks.sim:
            simulate(checks)
        found, against = preflight(checks)
        write(os.path.join(args.out, "preflight.json"), found | {"against": against})
        missing = [] if args.device == "sim" else [name for name, where in found.items() if not where]
        if missing:
            print(f"missing here: {', '.join(missing)}", flush=True)
        if needed := {"GPU", "torch", "torchvision"} & set(missing):
            raise Failed(f"no check can run without {', '.join(sorted(needed))}; --device sim rehearses them")
        if against:
            raise Failed("the device is not idle, so its times would mean nothing: " + "; ".join(against))
        return each(args, checks, found)


def each(args, checks, found):
    """Runs the checks that are wanted, one after another, and writes what they found."""
    over, failed, results = time.monotonic() + args.within, [], []
    for number, (name, run) in CHECKS.items():
        if args.only and number not in args.only:
            continue
        path = os.path.join(args.out, f"check-{number}.json")
        if args.resume and (result := kept(path, args.device)):
            print(f"{number} {name}: ok, of an earlier run", flush=True)
            results.append(result)
            continue
        begin, error, measured, passed, checks.reasons = time.monotonic(), "", None, False, []
        checks.end = min(begin + CHECK_S[args.device], over)
        try:
            if begin >= over:
                raise Failed("not run: the time of all checks is over; --resume continues")
            measured, passed = run(checks)
            error = "" if passed else "; ".join(checks.reasons) or f"not as it should be: {path}"
        except Skipped as e:
            error = f"skipped: {e}"
        except (Failed, OSError, LookupError, ValueError) as e:
            error = str(e) or repr(e)
        seconds = time.monotonic() - begin
        result = {"check": number, "name": name, "device": args.device, "passed": passed, "seconds": round(seconds, 2), "measured": measured, "error": error}
        write(path, result)
        results.append(result)
        write(os.path.join(args.out, "report.json"), {"date": time.strftime("%Y-%m-%d"), "device": args.device, "seconds": args.seconds, "preflight": found, "checks": results})
        print(f"{number} {name}: {error or 'ok'} ({seconds:.1f} s)", flush=True)
        if not passed and not error.startswith("skipped"):
            failed.append(number)
    return failed


def program(name):
    """Returns the path of a program."""
    if path := shutil.which(name):
        return os.path.abspath(path)
    raise argparse.ArgumentTypeError(f"{name}: no such program")


def numbers(text):
    """Returns the numbers of checks, from N,N,..."""
    wanted = [int(n) for n in text.split(",")]
    if unknown := set(wanted) - set(CHECKS):
        raise argparse.ArgumentTypeError(f"no check has the number {min(unknown)}")
    return wanted


def main(argv):
    """Calls one of the programs, or the checks."""
    device = "cuda"
    if argv[-2:-1] == ["--device"] and argv[0] != "check":
        device, argv = argv[-1], argv[:-2]
    if len(argv) == 2 and argv[0] == "launches" and argv[1] in PATHS:
        return launches(argv[1])
    if len(argv) == 3 and argv[0] == "worker" and argv[1] in (*SIMULATED, *DRIVEN):
        return worker(argv[1], argv[2], device)
    if len(argv) in (2, 3) and argv[0] == "job" and argv[1] in (*SIMULATED, *DRIVEN):
        return forever(argv[1], device, *argv[2:])
    if len(argv) == 2 and argv[0] == "allocate" and argv[1].isdigit():
        return allocate(int(argv[1]))
    if len(argv) == 1 and argv[0] in ("probe", "ahead", "memory", "loader"):
        return loader() if argv[0] == "loader" else {"probe": probe, "ahead": ahead, "memory": memory}[argv[0]](device)
    if argv[:1] != ["check"]:
        print(__doc__, file=sys.stderr)
        return 2
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("deft", type=program)
    p.add_argument("out", type=os.path.abspath)
    p.add_argument("--device", choices=("cuda", "sim"), default="cuda")
    p.add_argument("--only", type=numbers)
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--within", type=float, default=570)
    p.add_argument("--resume", action="store_true")
    args = p.parse_args(argv[1:])
    if args.seconds < 0.5 or args.within <= 0:
        p.error("want --seconds of 0.5 or more and --within above 0")
    os.makedirs(args.out, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("checks.py: ended by a signal"))
    try:
        failed = check(args)
    except Failed as e:
        print(f"checks.py: {e}", file=sys.stderr)
        return 1
    if failed:
        print(f"checks.py: not passed: {', '.join(map(str, failed))}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
