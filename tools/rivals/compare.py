#!/usr/bin/python3
"""Compares the tools with alternatives, alternating between the two, and prints one
JSON object per row, or {"skipped": reason} if a rival is not installed.

    compare.py [NAME...]

runs at the root of the checkout; NAME selects comparisons. It builds the tools, as a
release does, into out/rivals/bin."""
import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

ROUNDS = 5
OUT = os.path.abspath("out/rivals")
BIN = os.path.join(OUT, "bin")
DATA = os.environ.get("FORETIME_DATA", "$FORETIME_DATA")  # published data
os.environ["PATH"] = BIN + os.pathsep + os.environ["PATH"]


def run(*line, **env):
    """Runs a program and returns what it prints."""
    print(" ", *line, file=sys.stderr, flush=True)
    done = subprocess.run(line, env={**os.environ, **env}, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr + done.stdout).strip().split("\n")[-1]
        raise RuntimeError(f"{' '.join(line)}: exit status {done.returncode}: {last}")
    return done.stdout


def answer(*line):
    return json.loads(run(*line, "--json"))


def show(tool, what, unit, rival, pairs, command, more=False):
    """Prints a row of pairs: a value of ours and one of the rival per round."""
    ours, theirs = zip(*pairs)
    row = {"tool": tool, "what": what, "unit": unit, "rival": rival, "ours": ours, "theirs": theirs, "command": command}
    print(json.dumps({**row, "more_is_better": True} if more else row), flush=True)


def figures(pattern, *line):
    """Returns a pair for each match of a pattern with two groups in a program's output."""
    found = re.findall(pattern, run(*line))
    if not found:
        raise RuntimeError(f"{' '.join(line)}: it skipped itself")
    return [(float(ours), float(theirs)) for ours, theirs in found]


def wheel(name):
    """Returns the directory of a PyPI package that tools/rivals.txt installs."""
    return os.path.abspath(os.path.join("out/real/pip", name))


def version(package, **env):
    return run("/usr/bin/python3", "-c", f"import {package}; print({package}.__version__)", **env).strip()


def metric(output, unit):
    """Returns a benchmark's values of a unit, one per run."""
    return [float(v) for v in re.findall(rf"^Benchmark.*\s(\S+) {re.escape(unit)}(?:\s|$)", output, re.M)]


def build():
    simd = {"GOEXPERIMENT": "simd"}
    if subprocess.run(["go", "env", "GOEXPERIMENT"], env={**os.environ, **simd}, capture_output=True).returncode:
        simd = {}
    for tool in "allox-est", "chamtool", "deft", "edgeprof":
        run("go", "build", "-o", BIN + "/", f"./{tool}/cmd/{tool}", **simd)
    run("go", "build", "-buildmode=c-shared", "-o", BIN + "/libchamtool.so", "./chamtool/cmd/libchamtool")


def xgboost():
    """Training and prediction with the XGBoost of Debian and that of PyPI."""
    environments, pypi = [{}], wheel("xgboost==3.2.0")
    if os.path.exists(pypi):
        environments.append({"PYTHONPATH": pypi})
    line = ["go", "test", "-run", "^$", "-bench", "CompareXGBoost/^rows=100000$/^threads=1$", "-benchtime", "1x", "-count", str(ROUNDS), "./shared/regression/tree"]
    for env in environments:
        rival = "XGBoost " + version("xgboost", **env)
        out = run(*line, PYTHON="/usr/bin/python3", **env)
        for unit, what, shown in [
            ("train-s", "training boosted trees, 100,000 rows, 20 features, 100 trees", "s"),
            ("predict-s", "predicting them, on one thread", "s"),
            ("rmse", "their error on held-out rows", ""),
            ("MB", "memory of both", "MB"),
        ]:
            show("shared", what, shown, rival, zip(metric(out, unit), metric(out, "xgboost-" + unit)), " ".join(line))
    if len(environments) == 1:
        raise RuntimeError(f"{pypi}: not installed")


def scipy():
    """One assignment problem, with SciPy."""
    line = ["go", "test", "-run", "^$", "-bench", "BesideSciPy", "-benchtime", "1x", "-count", str(ROUNDS), "./allox-est/internal/schedule/matching"]
    rival = f"SciPy {version('scipy')} linear_sum_assignment"
    out = run(*line)
    show("allox-est", "the best plan of 200 jobs on 20 machines", "ms", rival, zip(metric(out, "ms"), metric(out, "scipy-ms")), " ".join(line))


def servers():
    """Our service under load, and others that accept the same requests."""
    line = ["go", "test", "-count=1", "-run", "TestLoad$", "-v", "./edgeprof/internal/cli", "-load", "3s", "-load-rounds", "1"]
    rivals = ["chi, body sent back", "chi, JSON decoded and encoded", "Flask and XGBoost"]
    served = {}  # requests per second at 16 connections
    for _ in range(ROUNDS):
        first = run(*line).split("200 connections")[0]
        found = re.findall(rf"^ *(edgeprof serve|{'|'.join(rivals)}) +(\d+) +", first, re.M)
        if not found:
            raise RuntimeError("TestLoad skipped itself; it needs wrk, python3-flask and python3-xgboost")
        for name, rate in found:
            served.setdefault(name, []).append(float(rate))
    for rival in rivals:
        show("edgeprof", "a prediction over HTTP, 16 connections", "requests/s", rival, zip(served["edgeprof serve"], served[rival]), " ".join(line), more=True)


def policies():
    """Our placement of random jobs by estimates, and simpler rules."""
    schedule = "allox-est schedule --cpu-nodes 4 --gpu-nodes 4 --policy allox,sjf,srpt,fifo"
    means = []
    for seed in range(1, 11):
        jobs = f"{OUT}/jobs-{seed}.txt"
        run(*f"allox-est schedule generate --users 5 --jobs 200 --error-sd 0.1 --spread 0.8 --seed {seed} --out {jobs}".split())
        means.append([s["mean_jct_seconds"] for s in answer(*schedule.split(), "--input", jobs)["schedules"]])
    for i, rival in enumerate(["sjf", "srpt", "fifo"], 1):
        show("allox-est", "mean completion of 1,000 jobs on 8 nodes, by AlloX", "s", rival, [(m[0], m[i]) for m in means], schedule)


def models():
    """Predictions of a program's tasks, and the rules of runtimes."""
    replays = []
    for r in range(ROUNDS):
        logs = f"{OUT}/tasks-{r}"
        shutil.rmtree(logs, ignore_errors=True)  # logs of an earlier run
        run(*f"chamtool host --tool {BIN}/libchamtool.so -- --threads 1 --tasks 600 --iterations 5 --work matrix --sizes".split(),
            ",".join(map(str, range(24, 161, 8))), CHAMTOOL_HOME=logs + "/home", CHAMTOOL_LOG_DIR=logs, CHAMTOOL_CALIBRATE="2")
        replays.append(answer("chamtool", "replay", logs + "/chamtool_rank_0.csv"))
    for name, rival in [
        ("starpu", "mean of runs of the same sizes, as StarPU keeps it"),
        ("last_value", "the last run of the same sizes"),
        ("history", "the median of runs of the same sizes"),
    ]:
        show("chamtool", "error of predicted task times, weighted", "%", rival, [(r["wape"], r["baselines"][name]["wape"]) for r in replays], "chamtool replay LOG --json")


def gate():
    """An urgent job on a shared GPU, with the gate and with a GPU's own behaviour:
    kernels of all programs first come first served, or in time slices."""
    common = {"resize": True, "batch_size": 1, "output_file_path": "logs"}
    jobs = [  # two detectors on one simulated GPU, the second urgent
        {"model_name": "fasterrcnn_resnet50_fpn", "resize_size": [1440, 2560], "priority": 0, "sleep_time": 0, "output_file_name": "background"},
        {"model_name": "retinanet_resnet50_fpn", "resize_size": [480, 640], "priority": 1, "sleep_time": 0.15, "output_file_name": "urgent"},
    ]
    for discipline, rival in [("fifo", "first come first served, as under MPS"), ("timeslice", "time slices, as without MPS")]:
        path = f"{OUT}/{discipline}.json"
        with open(path, "w") as f:
            json.dump({"models": [{**common, **j} for j in jobs], "exp_dur": 4, "jitter": 0.05, "discipline": discipline}, f)
        def urgent(policy):
            return answer("deft", "run", "-f", path, "--policy", policy, "--out", OUT + "/deft")["models"][1]["jct_ms"]["p50"]
        pairs = [(urgent("priority"), urgent("none")) for _ in range(ROUNDS)]
        show("deft", "an urgent job that shares a simulated GPU, median", "ms", rival, pairs, "deft run -f FILE --policy priority, and none")


def model(family, *size):
    """Generates a model, for which it builds the worker of ONNX Runtime."""
    run("go", "build", "-o", BIN + "/", "./edgeprof/cmd/edgeprof-ort")
    run("edgeprof", "synth", family, "--out", f"{OUT}/{family}.onnx", *size)
    return f"{OUT}/{family}.onnx"


def inference_ms(file, runtime):
    return 1000 * answer("edgeprof", "time", file, "--runtime", runtime, "--runs", "10")["p50_seconds"]


def inference():
    """A model in our runtime, and in ONNX Runtime."""
    file = model("resnet", "--width", "0.75", "--resolution", "128")
    pairs = [(inference_ms(file, "go"), inference_ms(file, "ort")) for _ in range(ROUNDS)]
    show("edgeprof", "one inference of a resnet, in Go on one thread", "ms", "ONNX Runtime", pairs, "edgeprof time FILE --runtime go, and ort")


def profile():
    """Predictions from rates of this machine, and the kernel times that ONNX Runtime
    measured in a run; a round is a model."""
    rates, profiled, counted, per_mac = OUT + "/rates.json", [], [], 0
    for family in "mobilenetv2", "resnet", "transformer", "alexnet", "densenet", "efficientnet", "googlenet", "lstm":
        file = model(family)
        if not profiled:
            run("edgeprof", "calibrate", "--runtime", "ort", "--runs", "3", "--out", rates)
        layers = answer("edgeprof", "layers", file, "--measure", "--calibration", rates)
        truth = inference_ms(file, "ort")
        def error(ms):
            return 100 * abs(ms / truth - 1)
        ours = error(1000 * layers["predicted_seconds"]["value"])
        macs = sum(layer.get("macs", 0) for layer in layers["layers"])
        if profiled:
            counted.append((ours, error(per_mac * macs)))
        else:
            per_mac = truth / macs
        profiled.append((ours, error(1000 * layers["measured_seconds"])))
    for rival, pairs in ("ONNX Runtime's own profile of a run", profiled), ("counts of operations, from one measured model", counted):
        show("edgeprof", "error of the predicted time of one inference", "%", rival, pairs, "edgeprof layers FILE --measure, and edgeprof time FILE --runtime ort")


def test_only():
    """Our predicted job starts, and those of a real Slurm; a round is a queue."""
    line = "go test ./mirage/internal/slurm -count=1 -run TestRealWhen$ -when-seed {} -v"
    pattern = r"absolute error mean ([\d.]+), median [\d.]+ s; Slurm's --test-only ([\d.]+),"
    pairs = [p for seed in range(1, ROUNDS + 1) for p in figures(pattern, *line.format(seed).split())]
    show("mirage", "a job's wait on a real Slurm, mean error", "s", "Slurm's own --test-only", pairs, line.format("SEED"))


def tqdm_error(path, series, value):
    """Returns the mean absolute error in percent of the total time that tqdm, on a
    simulated clock, shows for series of steps when a tenth of their steps is done."""
    import tqdm
    steps, errors = {}, []
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as f:
        for row in csv.DictReader(f):
            steps.setdefault(row[series], []).append(float(row[value]))
    for seconds in steps.values():
        now, bar = [0.0], tqdm.tqdm(total=len(seconds), file=open(os.devnull, "w"), disable=False)
        bar._time, bar.start_t, bar.last_print_t = (lambda: now[0]), 0.0, 0.0
        for s in seconds[:max(1, round(len(seconds) / 10))]:
            now[0] += s
            bar.update()
        d = bar.format_dict
        rate = d["rate"] or d["n"] / d["elapsed"]
        errors.append(abs((d["elapsed"] + (d["total"] - d["n"]) / rate) / sum(seconds) - 1))
    return 100 * sum(errors) / len(errors)


def rest():
    """Estimates of whole jobs from a tenth of their steps, and those of a progress bar
    and of split conformal prediction; a round is a set of published series."""
    values, scores, rival = [], [], "tqdm " + version("tqdm")
    for name, *columns in [
        ("steps-pai/minibatch.csv", "series", "batch_time_norm"), ("steps-azure/values.csv.gz", "series", "value"), ("steps-nanogpt/steps.csv", "series", "seconds"),
    ]:
        path = f"{DATA}/{name}"
        methods = answer("allox-est", "backtest", path, "--series", columns[0], "--value", columns[1], "--fraction", "0.1")["methods"]
        values.append((methods["auto"]["mape"], tqdm_error(path, *columns)))
        scores.append((methods["auto"]["interval_score"], methods["conformal"]["interval_score"]))
    command = "allox-est backtest FILE --series S --value V --fraction 0.1 --json"
    show("allox-est", "a job's time from a tenth of its steps, mean error", "%", rival, values, command)
    show("allox-est", "its 95 % interval, interval score over the time", "", "split conformal prediction of the last rate", scores, command)


def boards():
    """A new chip from few measured models, and the times of the nearest other chip; a
    round is a number of measured models."""
    pairs = []
    for anchors in "3", "5", "8":
        a = answer("edgeprof", "transfer", "--table", DATA + "/ncnn-boards/latency.csv", "--models", DATA + "/ncnn-boards/models", "--cpu-only", "--anchors", anchors)
        pairs.append((100 * a["median_ape"], 100 * a["baselines"]["nearest_run"]["median_ape"]))
    show("edgeprof", "a model's time on a new chip with few measurements, median error", "%", "the nearest run of another chip", pairs, "edgeprof transfer --table latency.csv --models models --cpu-only --anchors N")


def waits():
    """Waits of jobs of published logs, and LightGBM on the same features; a round is a log."""
    line = "go test -count=1 -timeout=1h -run BesideLightGBM -v ./mirage/internal/backtest -lightgbm"
    pairs = figures(r"jobs, mean error ([\d.]+) h; LightGBM ([\d.]+) h", *line.split(), wheel("lightgbm==4.5.0"))
    show("mirage", "a job's wait, predicted from a log, mean error", "h", "LightGBM 4.5.0, its median by the same features", pairs, "go test -run BesideLightGBM -v ./mirage/internal/backtest -lightgbm WHEEL")


def shares():
    """Slowdowns of programs that share published GPUs, and two simple rules; each
    predicted pair is held out, and a round is a GPU."""
    for rival, field in ("2 x alone", "Half"), ("the mean of pairs with the same other program", "Partner"):
        pairs = figures(rf"Error:([\d.]+) .*{field}:([\d.]+)", *"go test -count=1 -run MeasuredPairs -v ./deft/internal/pair".split())
        show("deft", "a program's relative speed on a shared GPU, median error", "", rival, pairs, "go test -run MeasuredPairs -v ./deft/internal/pair")


if __name__ == "__main__":
    comparisons = [xgboost, scipy, servers, policies, models, gate, inference, profile, test_only, rest, boards, waits, shares]
    names = [c.__name__.replace("_", "-") for c in comparisons]
    for name in sys.argv[1:]:
        if name not in names:
            sys.exit(f"no comparison is called {name}; there are {', '.join(names)}")
    os.makedirs(BIN, exist_ok=True)
    build()
    for name, compare in zip(names, comparisons):
        if name in (sys.argv[1:] or names):
            print(name, "...", file=sys.stderr, flush=True)
            try:
                compare()
            except Exception as e:
                print(json.dumps({"skipped": f"{name}: {e}"}), flush=True)
