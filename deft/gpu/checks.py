"""What only a GPU can tell: the checks of README.md, each written as it ends.

usage: checks.py check DEFT OUT [--device cuda|sim] [--only N]... [--seconds S] [--within S]
                       [--preload LIB] [--layouts C]
       checks.py launches {eager,compiled,graph,cublas,cudnn}
       checks.py work {eager,graph} SECONDS CSV
       checks.py allocate MEGABYTES | loader

check      runs the checks with the program DEFT, run_model.py and pair.json beside
           this file; the rest are their programs
launches   runs one kind of work and prints how often the CUDA API launched, as
           PyTorch's profiler (CUPTI) counts it; to be run under deft doctor
work       times jobs of ResNet-50, batch 8, one row each, the first the warm-up
allocate   holds memory on the device
loader     feeds the GPU from a DataLoader with forked workers
"""

import argparse
import contextlib
import csv
import ctypes
import glob
import importlib.util
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernelEx",
            "cudaLaunchCooperativeKernel", "cuLaunchCooperativeKernel", "cudaGraphLaunch", "cuGraphLaunch")
HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ("eager", "compiled", "graph", "cublas", "cudnn")
REPEATS = 20
# Student's t for intervals of 95 %, by degrees of freedom (Abramowitz, Stegun 1964, table 26.10).
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306}
SLICE = 480  # seconds that one check may take


# ---- programs ----------------------------------------------------------------


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

    model = torchvision.models.resnet50(weights=None).eval().cuda()
    x = torch.rand(batch, 3, 224, 224, device="cuda")
    if kind == "compiled":
        model = torch.compile(model)
    if kind != "graph":
        return lambda: model(x)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(x)
    return graph.replay


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


def jobs(kind, seconds, path):
    """Times jobs for some seconds, a row each: start and end in ns, milliseconds."""
    import torch

    with torch.no_grad(), open(path, "w", encoding="utf-8") as f:
        print("start_timestamp_ns,end_timestamp_ns,jct_ms", file=f)
        once, until = work(torch, kind, 8), time.monotonic() + seconds
        while time.monotonic() < until:
            begin = time.monotonic_ns()
            once()
            torch.cuda.synchronize()
            end = time.monotonic_ns()
            print(f"{begin},{end},{(end - begin) / 1e6:.6f}", file=f, flush=True)


def allocate(megabytes):
    """Holds memory for a moment."""
    import torch

    torch.zeros(megabytes << 20, dtype=torch.uint8, device="cuda").sum().item()


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


# ---- what is measured ----------------------------------------------------------


class Failed(Exception):
    """A check came to no answer."""


class Skipped(Exception):
    """This machine has not what a check needs."""


def ratio(with_it, without):
    """Returns the ratio of two means with its 95 % interval, from the means of
    five blocks of consecutive jobs each: Welch's, on logarithms."""
    a, b = ([math.log(m) for m in blocks(v)] for v in (with_it, without))
    spread = math.sqrt(statistics.variance(a) / len(a) + statistics.variance(b) / len(b))
    middle, far = statistics.mean(a) - statistics.mean(b), STUDENT[min(len(a) + len(b) - 2, 8)] * spread
    return {"value": math.exp(middle), "low": math.exp(middle - far), "high": math.exp(middle + far)}


def blocks(values, n=5):
    """Returns the means of n runs of consecutive values."""
    if len(values) < 2 * n:
        raise Failed(f"{len(values)} jobs are too few, want {2 * n}: more --seconds")
    return [statistics.mean(values[i * len(values) // n:(i + 1) * len(values) // n]) for i in range(n)]


def paired(ratios):
    """Returns the geometric mean of ratios of pairs with its 95 % interval."""
    logs = [math.log(r) for r in ratios]
    middle, far = statistics.mean(logs), STUDENT[len(logs) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return {"value": math.exp(middle), "low": math.exp(middle - far), "high": math.exp(middle + far)}


def halved(none, priority):
    """Says whether a policy takes away at least half of what the other job costs."""
    return none["low"] <= 1.05 or priority["value"] - 1 <= (none["value"] - 1) / 2


class Checks:
    """The checks, on one device."""

    def __init__(self, args, scratch):
        self.args, self.scratch, self.sim, self.sessions, self.end = args, scratch, args.device == "sim", 0, 0

    def start(self, argv, env=None, **pipes):
        """Starts a program in a process group of its own."""
        return subprocess.Popen(argv, env={**os.environ, **(env or {})}, text=True, start_new_session=True, **pipes)

    def run(self, argv, env=None):
        """Runs a program to its end; returns its status and both outputs."""
        p = self.start(argv, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = p.communicate(timeout=max(1, self.end - time.monotonic()))
        except subprocess.TimeoutExpired as e:
            raise Failed(f"{' '.join(argv[:3])} ...: not done in {SLICE} s, or in the time of all checks") from e
        finally:
            stop(p)
        return p.returncode, out, err

    def must(self, argv, env=None):
        """Runs a program that has to succeed."""
        status, out, err = self.run(argv, env)
        if status:
            raise Failed(f"{' '.join(argv)}: exit {status}: {(err.strip() or out.strip() or 'no word').splitlines()[-1]}")
        return out, err

    def file(self, name):
        """Returns the path of a file that goes with the checks."""
        return os.path.join(self.scratch, name)

    def program(self, role, seconds, path):
        """Returns the command of a job: "low" or "urgent" of the pair, "graph"s, or a "loop"."""
        seconds = str(math.ceil(seconds))
        if self.sim:
            shape = {"low": [400, 100000], "graph": [400, 100000], "urgent": [100, 50000], "loop": [200, 20000]}[role]
            more = {"graph": ["--graph-kernels", "50"], "urgent": ["--sleep-ms", "20"]}.get(role, [])
            return ["deft-workload", "--kernels", str(shape[0]), "--kernel-ns", str(shape[1]), "--dur-s", seconds, "--csv", path, *more]
        if role in ("graph", "loop"):
            return [sys.executable, __file__, "work", {"graph": "graph", "loop": "eager"}[role], seconds, path]
        with open(os.path.join(HERE, "pair.json"), encoding="utf-8") as f:
            entry = json.load(f)["models"][role == "urgent"]
        entry |= {"output_file_path": os.path.dirname(path), "output_file_name": os.path.basename(path)[:-4]}
        write(path + ".json", entry)
        return [sys.executable, os.path.join(HERE, "run_model.py"), path + ".json", "0", seconds, "--min-jobs", "11"]

    def session(self):
        """Returns a session of its own."""
        self.sessions += 1
        return f"gpu-check-{os.getpid()}-{self.sessions}"

    def under(self, session, argv, *flags):
        """Returns the command that runs a program in a session."""
        return [self.args.deft, "exec", "--device", self.args.device, "--session", session, *flags, "--", *argv]

    @contextlib.contextmanager
    def beside(self, session, role, policy, env=None):
        """Has the low job run meanwhile."""
        path = self.file(session + "-low.csv")
        p = self.start(self.under(session, self.program(role, SLICE, path), "--name", "low", "--policy", policy), env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            while rows(path) < 3:
                if p.poll() is not None or time.monotonic() > self.end:
                    raise Failed(f"the low job did not run: {(p.stderr.read() if p.poll() is not None else 'no time left').strip()[-300:]}")
                time.sleep(0.05)
            yield p
        finally:
            stop(p)
            subprocess.run([self.args.deft, "ctl", "stop", "--device", self.args.device, "--session", session], capture_output=True, check=False)

    def urgent_times(self, session, env=None):
        """Returns the urgent job's times in milliseconds."""
        path = self.file(session + "-urgent.csv")
        self.must(self.under(session, self.program("urgent", self.args.seconds, path), "--name", "urgent", "--priority", "1"), env)
        return times(path)

    # ---- the checks ----

    def launches_seen(self):
        """Compares the hook's count with another's, for every launch path."""
        seen = []
        for kind in ("eager", "graph") if self.sim else KINDS:
            counts = self.file(kind + ".counts")
            argv = [sys.executable, __file__, "launches", kind]
            if self.sim:
                argv = ["deft-workload", "--kernels", "100", "--kernel-ns", "10000", "--jobs", "5", *(["--graph-kernels", "50"] if kind == "graph" else [])]
            one = {"kind": kind, "hook": 0, "counted": 0}
            try:
                out, err = self.must([self.args.deft, "doctor", "--json", "--", *argv], {"SIMCUDA_COUNTS": counts})
                saw = json.loads(out)
                one["hook"] = saw["launches"] + sum(p["captured"] for p in saw["processes"])
                if self.sim:
                    with open(counts, encoding="utf-8") as f:
                        err = f.read()
                one["counted"] = [json.loads(line) for line in err.splitlines() if line.startswith("{")][-1]["launches"]
            except (Failed, LookupError, ValueError) as e:
                one["error"] = str(e)
            seen.append(one)
        return seen, all(s["hook"] == s["counted"] > 0 for s in seen)

    def cost(self):
        """Times the same work without and with the hook in turn; the order changes each time."""
        ratios = []
        for i in range(4):
            mean = {}
            for hooked in (False, True) if i % 2 else (True, False):
                path = self.file("loop.csv")
                self.must(self.program("loop", self.args.seconds / 4, path), {"LD_PRELOAD": self.args.preload} if hooked else None)
                mean[hooked] = statistics.mean(times(path))
            ratios.append(mean[True] / mean[False])
        both = {"ratio": paired(ratios), "pairs": ratios}
        return both, both["ratio"]["low"] <= 1.01

    def protected(self, role, with_mps):
        """Times the urgent job beside another, over its time alone, by policy."""
        alone = self.urgent_times(self.session())
        measured = {}
        for policy in ("none", "priority"):
            session = self.session()
            with self.beside(session, role, policy):
                measured[policy] = ratio(self.urgent_times(session), alone)
        if with_mps and not self.sim and shutil.which("nvidia-cuda-mps-control"):
            with mps(self.scratch) as env, self.beside(session := self.session(), role, "none", env):
                measured["mps"] = ratio(self.urgent_times(session, env), alone)
        return measured, halved(measured["none"], measured["priority"])

    def urgent(self):
        """The urgent job beside one that launches kernel by kernel."""
        return self.protected("low", True)

    def graphs(self):
        """The urgent job beside one that launches graphs."""
        return self.protected("graph", False)

    def quota(self):
        """A program may hold what its quota says, and no more."""
        held = {}
        for megabytes in (64, 512):
            argv = [sys.executable, __file__, "allocate", str(megabytes)]
            if self.sim:
                argv = ["deft-workload", "--kernels", "1", "--kernel-ns", "1000", "--jobs", "1", "--mem-bytes", str(megabytes << 20)]
            status, _, err = self.run(self.under(self.session(), argv, "--memory-quota", "256MiB"))
            held[str(megabytes)] = {"exit": status, "said": (err.strip().splitlines() or [""])[-1]}
        return held, held["64"]["exit"] == 0 and held["512"]["exit"] != 0

    def death(self):
        """Kills the low job with -9: the other goes on, and the session forgets the dead."""
        session = self.session()
        listing = [self.args.deft, "ctl", "list", "--device", self.args.device, "--session", session, "--json"]
        with self.beside(session, "low", "priority"):
            p = self.start(self.under(session, self.program("urgent", self.args.seconds, self.file("survivor.csv")), "--name", "urgent", "--priority", "1"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                while rows(self.file("survivor.csv")) < 3 and p.poll() is None and time.monotonic() < self.end:
                    time.sleep(0.05)
                os.kill(next(c["pid"] for c in json.loads(self.must(listing)[0])["clients"] if c["name"] == "low"), signal.SIGKILL)
                before = rows(self.file("survivor.csv"))
                p.wait(timeout=max(1, self.end - time.monotonic()))
            except (StopIteration, subprocess.TimeoutExpired) as e:
                raise Failed(f"the low job is not in the session, or the other did not end: {e!r}") from e
            finally:
                stop(p)
            left = [c["name"] for c in json.loads(self.must(listing)[0])["clients"]]
        after = rows(self.file("survivor.csv")) - before
        return {"exit": p.returncode, "jobs_after": after, "still_listed": left}, p.returncode == 0 and after >= 10 and "low" not in left

    def workers(self):
        """Forked workers feed a program under the hook."""
        if self.sim:
            raise Skipped("needs PyTorch on a GPU")
        out = self.must(self.under(self.session(), [sys.executable, __file__, "loader"]))[0].strip()
        return out, out == "batches 32"

    def layouts(self):
        """NVIDIA's header agrees with the hook's structures."""
        header, compiler = cuda_header(), shutil.which("cc")
        if missing := [name for name, found in (("cuda.h", header), ("cc", compiler)) if not found]:
            raise Skipped("needs " + " and ".join(missing))
        status, _, err = self.run([compiler, "-fsyntax-only", "-I" + os.path.dirname(header), self.args.layouts])
        return {"header": header, "output": err}, status == 0


def rows(path):
    """Counts the rows of a job log that are there by now."""
    try:
        with open(path, encoding="utf-8") as f:
            return max(0, sum(1 for _ in f) - 1)
    except FileNotFoundError:
        return 0


def times(path):
    """Returns the milliseconds of a log's jobs, the warm-up left out."""
    with open(path, encoding="utf-8") as f:
        return [float(row["jct_ms"]) for row in csv.DictReader(f)][1:]


def stop(p):
    """Ends a program and all that it started."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            p.wait(timeout=1.5)
            return


@contextlib.contextmanager
def mps(scratch):
    """Has MPS run, with a pipe and a log of its own."""
    env = {"CUDA_MPS_PIPE_DIRECTORY": os.path.join(scratch, "mps"), "CUDA_MPS_LOG_DIRECTORY": os.path.join(scratch, "mps-log")}
    for path in env.values():
        os.makedirs(path, exist_ok=True)
    subprocess.run(["nvidia-cuda-mps-control", "-d"], env={**os.environ, **env}, capture_output=True, check=True)
    try:
        yield env
    finally:
        subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, env={**os.environ, **env}, capture_output=True, check=False)


def cuda_header():
    """Returns cuda.h of a wheel or of a toolkit, or None."""
    inside = [os.path.join(p, "nvidia", "*", "include", "cuda.h") for p in sys.path if p]
    return next((h for pattern in [*inside, "/usr/local/cuda*/include/cuda.h"] for h in glob.glob(pattern)), None)


def preflight(device):
    """Returns what the checks use by name: where it is, or None."""
    found = {"GPU": "simulated" if device == "sim" else None}
    with contextlib.suppress(OSError, AttributeError):
        driver, n = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(0)
        if not found["GPU"] and driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(n)) == 0 and n.value > 0:
            found["GPU"] = f"{n.value} by libcuda.so.1"
    for module in ("torch", "torchvision"):
        spec = importlib.util.find_spec(module)
        found[module] = spec.origin if spec else None
    return found | {"compiler (cc)": shutil.which("cc"), "cuda.h": cuda_header(), "MPS": shutil.which("nvidia-cuda-mps-control")}


# By number, in the order in which they run.
CHECKS = {
    13: ("every launch is seen", Checks.launches_seen), 14: ("cost of passing through", Checks.cost), 15: ("the urgent job", Checks.urgent),
    19: ("the urgent job beside graphs", Checks.graphs), 20: ("memory quota", Checks.quota), 16: ("one dies, the other lives", Checks.death),
    17: ("forked workers", Checks.workers), 18: ("layouts", Checks.layouts),
}


def write(path, value):
    """Writes JSON to a file, whole or not at all."""
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(value, f, indent=2)
        f.write("\n")
    os.replace(path + ".new", path)


def check(args):
    """Runs the checks; returns the numbers of those that did not pass."""
    only = args.only or list(CHECKS)
    found = preflight(args.device)
    write(os.path.join(args.out, "preflight.json"), found)
    missing = [] if args.device == "sim" else [name for name, where in found.items() if not where]
    if missing:
        print(f"missing here: {', '.join(missing)}", flush=True)
    if {"GPU", "torch", "torchvision"} & set(missing):
        raise Failed(f"no check can run without {', '.join(n for n in missing if n in ('GPU', 'torch', 'torchvision'))}; --device sim rehearses them")
    over, failed = time.monotonic() + args.within, []
    with tempfile.TemporaryDirectory(dir=args.out) as scratch:
        checks = Checks(args, scratch)
        os.environ["SIMCUDA_DEVICE"] = checks.file("device")  # of programs outside of a session
        for number, (name, run) in CHECKS.items():
            if number not in only:
                continue
            begin, error, measured, passed = time.monotonic(), "", None, False
            checks.end = min(begin + SLICE, over)
            try:
                if begin >= over:
                    raise Failed("not run: the time of all checks is over; run it with --only")
                measured, passed = run(checks)
                error = "" if passed else f"not as it should be: {os.path.join(args.out, f'check-{number}.json')}"
            except Skipped as e:
                error = f"skipped: {e}"
            except (Failed, OSError) as e:
                error = str(e)
            seconds = time.monotonic() - begin
            write(os.path.join(args.out, f"check-{number}.json"), {
                "check": number, "name": name, "device": args.device, "passed": passed, "seconds": seconds, "measured": measured, "error": error})
            print(f"{number} {name}: {error or 'ok'} ({seconds:.1f} s)", flush=True)
            if not passed and not error.startswith("skipped"):
                failed.append(number)
    return failed


def main(argv):
    """Calls one of the programs, or the checks."""
    if len(argv) == 2 and argv[0] == "launches" and argv[1] in KINDS:
        return launches(argv[1])
    if len(argv) == 4 and argv[0] == "work" and argv[1] in ("eager", "graph") and argv[2].isdigit():
        return jobs(argv[1], int(argv[2]), argv[3])
    if len(argv) == 2 and argv[0] == "allocate" and argv[1].isdigit():
        return allocate(int(argv[1]))
    if argv == ["loader"]:
        return loader()
    if argv[:1] != ["check"]:
        print(__doc__, file=sys.stderr)
        return 2
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("deft")
    p.add_argument("out")
    for name, default in (("device", "cuda"), ("preload", ""), ("layouts", "")):
        p.add_argument("--" + name, default=default)
    p.add_argument("--only", type=int, action="append")
    p.add_argument("--seconds", type=int, default=20)
    p.add_argument("--within", type=float, default=1320)
    args = p.parse_args(argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        failed = check(args)
    except Failed as e:
        print(f"gpu-check: {e}", file=sys.stderr)
        return 1
    if failed:
        print(f"gpu-check: not passed: {', '.join(map(str, failed))}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
