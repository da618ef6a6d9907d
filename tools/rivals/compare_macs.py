"""The multiply-accumulates of ONNX files, with onnx-tool."""
import csv
import glob
import json
import math
import os
import statistics
import sys
import tempfile
import time

from rows import OUT, answer, run, show, wheel

ONNX_TOOL = "onnx-tool==1.0.1"
PRODUCTS = "Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "Gemm", "MatMul", "MatMulInteger", "QLinearMatMul"
FAMILIES = "mobilenetv2", "resnet", "transformer", "alexnet", "densenet", "efficientnet", "googlenet", "lstm"
PACKAGES = "magika==1.0.3", "nudenet==3.4.2", "rapidocr-onnxruntime==1.4.4", "silero-vad==6.2.3"
SIZES = [("_rec_infer", (1, 3, 48, 320)), ("silero_vad", (1, 576)), ("silero_vad", (2, 1, 128))]  # of inputs, where 224 and 128 are impossible
VALUES = {"sr": 16000}  # of inputs that select a part of a model; the others are 1
TESTS = "/usr/share/libonnx-testdata/data"  # of the package libonnx-testdata


def fixed(path, to):
    """Writes a copy of a model without open dimensions, which gives both sides and ONNX
    Runtime the same sizes, and returns whether it may have a product."""
    import onnx
    model = onnx.load(path)
    constant = {t.name for t in model.graph.initializer}
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        sizes = next((s for part, s in SIZES if part in path and len(s) == len(dims)), None)
        for i, dim in enumerate(dims):
            if value.name not in constant and dim.dim_value <= 0:
                dim.dim_value = sizes[i] if sizes else 1 if i == 0 else 224 if len(dims) == 4 else 128
    onnx.save(model, to)
    data = model.SerializeToString()  # with the graphs inside of nodes
    return any(name.encode() in data for name in PRODUCTS)


def executed(path):
    """Returns the multiply-accumulates of the products that ONNX Runtime ran, by the shapes
    in its profile, and the additions of their biases."""
    import numpy
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.enable_profiling, options.log_severity_level = True, 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_prepacking", "1")  # it hides the shapes of weights
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = folder + "/profile"
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        types = {"float": "float32", "double": "float64", "float16": "float16", "int64": "int64", "int32": "int32", "int8": "int8", "uint8": "uint8"}
        session.run(None, {i.name: numpy.full(i.shape, VALUES.get(i.name, 1), types[i.type[7:-1]]) for i in session.get_inputs()})
        with open(session.end_profiling()) as f:
            events = json.load(f)
    total = biases = 0
    for e in events:
        ran = e.get("args", {})
        if not e["name"].endswith("_kernel_time") or ran["op_name"] not in PRODUCTS:
            continue
        ins, (out,) = ([list(s.values())[0] for s in ran[k]] for k in ("input_type_shape", "output_type_shape"))
        name, outputs = ran["op_name"], math.prod(out)
        if name == "ConvTranspose":
            total += math.prod(ins[0]) * math.prod(ins[1][1:])
        elif "Conv" in name:
            total += outputs * math.prod(ins[3 if name == "QLinearConv" else 1][1:])
        elif name == "Gemm":
            total += outputs * math.prod(ins[0]) // out[-2]  # either side may be transposed
        else:
            total += outputs * ins[0][-1]
        if len(ins) == 3 and name in ("Conv", "ConvTranspose", "Gemm"):
            biases += outputs
    return total, biases


def tool_environment():
    return {"PYTHONPATH": os.pathsep.join(map(wheel, (ONNX_TOOL, "tabulate==0.9.0")))}


def theirs(path):
    table = OUT + "/onnx-tool.csv"
    run("/usr/bin/python3", "-m", "onnx_tool", "-i", path, "-f", table, **tool_environment())
    with open(table) as f:
        rows = list(csv.DictReader(f))
    return sum(float(r["Forward_MACs"].replace(",", "")) for r in rows if r["Type"] in PRODUCTS)


def ours(path):
    macs = answer("edgeprof", "inspect", path)["macs"]
    return macs["total"] - macs["recurrent"]


def groups():
    """Returns the files of each round."""
    for family in FAMILIES:
        run("edgeprof", "synth", family, "--out", f"{OUT}/{family}.onnx")
    tests = sorted(p for p in glob.glob(TESTS + "/**/*.onnx", recursive=True))
    return {
        "generated models": [f"{OUT}/{family}.onnx" for family in FAMILIES],
        "files of four packages": sorted(p for package in PACKAGES for p in glob.glob(wheel(package) + "/**/*.onnx", recursive=True)),
        "ONNX's tests of operators": [p for p in tests if "/node/" in p],
        "ONNX's tests of whole models": [p for p in tests if "/node/" not in p],
    }


def products():
    """Counts of both sides, and what ONNX Runtime ran; a round is a group of files. The
    times are those of the commands where both answer; a round is a file."""
    for name in ONNX_TOOL, "tabulate==0.9.0", "onnxruntime==1.20.1", "flatbuffers==24.3.25":
        if not os.path.isdir(wheel(name)):
            raise RuntimeError(f"{wheel(name)}: not installed")
        sys.path.append(wheel(name))
    copy, shares, times, notes = OUT + "/fixed.onnx", [], [], []
    for group, paths in groups().items():
        files, left, right, refused = 0, [0, 0], [0, 0], 0
        for path in paths:
            try:
                if not fixed(path, copy) or not (truth := executed(copy))[0]:
                    continue
            except Exception as e:  # ONNX Runtime has other reasons for each file
                print(f"  {path}: {e}"[:200], file=sys.stderr)
                refused += 1
                continue
            files += 1
            answered = 0
            for side, count in (left, ours), (right, theirs):
                try:
                    n = count(copy)
                    answered += 1
                    error = min(abs(n / truth[0] - 1), abs(n / sum(truth) - 1))
                    side[0] += error < 0.01
                    if error >= 0.01:
                        print(f"  {path}: {count.__name__} off by {100 * error:.1f} %", file=sys.stderr)
                except RuntimeError as e:
                    print(f"  {path}: {e}"[:300], file=sys.stderr)
                    side[1] += 1
            if "tests" not in group and answered == 2:
                times.append(duel(copy))
        if files:
            shares.append((100 * left[0] / files, 100 * right[0] / files))
            notes.append(f"{group}: {files}, right ours {left[0]}, theirs {right[0]}, refused ours {left[1]}, theirs {right[1]}; not run by ONNX Runtime {refused}")
    command = "edgeprof inspect FILE --json, and python3 -m onnx_tool -i FILE"
    show("edgeprof", "files whose multiply-accumulates are within 1 % of those that ONNX Runtime ran, with or without biases", "%", ONNX_TOOL.replace("==", " "), shares, command, more=True, note="; ".join(notes))
    show("edgeprof", "the time until these counts are printed", "s", ONNX_TOOL.replace("==", " "), times, command)


def duel(path):
    """Returns the median seconds of both commands, which take turns."""
    took = ([], [])
    for _ in range(3):
        for side, line, env in (0, ("edgeprof", "inspect", path), {}), (1, ("/usr/bin/python3", "-m", "onnx_tool", "-i", path), tool_environment()):
            begin = time.monotonic()
            run(*line, **env)
            took[side].append(time.monotonic() - begin)
    return statistics.median(took[0]), statistics.median(took[1])
