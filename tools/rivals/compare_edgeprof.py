"""A service, and the times of models."""
import json
import re

from rows import BIN, DATA, OUT, ROUNDS, answer, run, show


def servers():
    """Our service under load, and one in Python that accepts the same requests."""
    line = ["go", "test", "-count=1", "-run", "TestLoad$", "-v", "./edgeprof/internal/cli", "-load", "3s", "-load-rounds", "1"]
    rival = "Flask and XGBoost"
    served = {}  # requests per second at 16 connections
    for _ in range(ROUNDS):
        first = run(*line).split("200 connections")[0]
        found = re.findall(rf"^ *(edgeprof serve|{rival}) +(\d+) +", first, re.M)
        if not found:
            raise RuntimeError("TestLoad skipped itself; it needs wrk, python3-flask and python3-xgboost")
        for name, rate in found:
            served.setdefault(name, []).append(float(rate))
    show("edgeprof", "a prediction over HTTP, 16 connections", "requests/s", rival, zip(served["edgeprof serve"], served[rival]), " ".join(line), more=True)


def model(family, *size):
    """Generates a model, for which it builds the worker of ONNX Runtime."""
    run("go", "build", "-o", BIN + "/", "./edgeprof/cmd/edgeprof-ort")
    run("edgeprof", "synth", family, "--out", f"{OUT}/{family}.onnx", *size)
    return f"{OUT}/{family}.onnx"


def inference_ms(file):
    return 1000 * answer("edgeprof", "time", file, "--runs", "10")["p50_seconds"]


def profile():
    """Predictions from rates of this machine, and the kernel times that ONNX Runtime
    measured in a run; a round is a model."""
    rates, profiled, counted, per_mac = OUT + "/rates.json", [], [], 0
    for family in "mobilenetv2", "resnet", "transformer", "alexnet", "densenet", "efficientnet", "googlenet", "lstm":
        file = model(family)
        if not profiled:
            run("edgeprof", "calibrate", "--bursts", "3", "--out", rates)
        layers = answer("edgeprof", "layers", file, "--measure", "--calibration", rates)
        truth = inference_ms(file)
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
        show("edgeprof", "error of the predicted time of one inference", "%", rival, pairs, "edgeprof layers FILE --measure, and edgeprof time FILE")


def boards():
    """A new chip from few measured models, and the times of the nearest other chip; a
    round is a number of measured models."""
    pairs = []
    for anchors in "3", "5", "8":
        line = ["go", "test", "-count=1", "-run", "TestJudge$", "-v", "./edgeprof/internal/transfer", "-anchors", anchors, "-table"]
        a = json.loads(re.search("^{.*}$", run(*line, DATA + "/ncnn-boards/latency.csv"), re.M)[0])
        pairs.append((100 * a["median_ape"], 100 * a["baselines"]["nearest_run"]["median_ape"]))
    show("edgeprof", "a model's time on a new chip with few measurements, median error", "%", "the nearest run of another chip", pairs, "go test ./edgeprof/internal/transfer -run TestJudge$ -v -table latency.csv -anchors N")
