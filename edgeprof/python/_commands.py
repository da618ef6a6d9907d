"""The commands of edgeprof that answer in JSON, as functions.

"release python" writes this file from the program's description of its commands.
"""

import typing

from ._answers import Candidates
from ._answers import Timing
from ._program import Answer, Duration, Settings, Table, Text, Texts, as_duration, ask

__all__ = ["adapt", "calibrate", "collect", "eval", "inspect", "layers", "rank", "record", "time", "train", "transfer"]


def adapt(
    *words: Text,
    table: Texts,
    device: Text,
    measured: Text,
    models: typing.Optional[Text] = None,
    cpu_only: typing.Optional[bool] = None,
    seed: typing.Optional[int] = None,
) -> Answer:
    """Predict the latency of all models on a new device from a few models that were
    measured on it and from a table of latencies of other devices. The measurements
    are a CSV file with the columns model and avg_ms, and threads if that is not 1.
    Three models are enough; the answer names the one to measure next.

    Command: edgeprof adapt
    table: CSV files of latencies, separated by commas: board, chip, run, threads, powersave, gpu_device, model, avg_ms
    device: name of the new device
    measured: CSV file of measurements on it: model, avg_ms
    models: directory of the models' ncnn graphs, MODEL.param
    cpu_only: ignore rows of a GPU
    seed: random seed of the folds that intervals are learned from (default 1)
    """
    answer: Answer = ask(
        ["adapt"],
        words,
        {
            "table": table,
            "device": device,
            "measured": measured,
            "models": models,
            "cpu-only": cpu_only,
            "seed": seed,
        },
    )
    return answer


def calibrate(
    *words: Text,
    out: typing.Optional[Text] = None,
    for_: typing.Optional[Texts] = None,
    runs: typing.Optional[int] = None,
    limit: typing.Optional[Duration] = None,
    size: typing.Optional[float] = None,
    runtime: typing.Optional[Text] = None,
    threads: typing.Optional[int] = None,
    dim: typing.Optional[Texts] = None,
    pin: typing.Optional[typing.Sequence[int]] = None,
    quota: typing.Optional[float] = None,
    ort_library: typing.Optional[Text] = None,
) -> Answer:
    """Measure how fast this machine runs each class of operator: small models of every
    family run a few times each. The kernels of the models named by --for are
    measured too and correct the rates of similar kernels. An interrupted run with
    --for continues where it stopped. On a busy machine it stops at the limit.

    Example: edgeprof.calibrate(for_="detector.onnx")

    Command: edgeprof calibrate
    out: file to write (default: the one that rank reads)
    for_: an .onnx file, or a directory of them, to correct predictions for; may be repeated
    runs: bursts of timed inferences per model, in three rounds (default 6)
    limit: time after which only as many models are measured as an interval needs; 0 is none (default 1m40s)
    size: factor on the width of the small models: less than 1 for a slow machine (default 1)
    runtime: runtime: ort (ONNX Runtime, through edgeprof-ort), go (built in), or auto (ort if it loads, else go) (default auto)
    threads: threads per inference (default 1)
    dim: size of an open dimension, such as batch=4 or INPUT:AXIS=640 (default: the exporter's hint, or by its name: 224 for a height or width, 128 for a sequence, a second of samples; else 1)
    pin: CPUs that inferences may use, such as 0 or 0,1 (default: any)
    quota: fraction of CPU time for inferences, above 0 and at most 1 (default 1)
    ort_library: path of libonnxruntime.so (default: searched in the Python environment, node_modules, python3's packages and the system's directories)
    """
    answer: Answer = ask(
        ["calibrate"],
        words,
        {
            "out": out,
            "for": for_,
            "runs": runs,
            "limit": as_duration("limit", limit),
            "size": size,
            "runtime": runtime,
            "threads": threads,
            "dim": dim,
            "pin": pin,
            "quota": quota,
            "ort-library": ort_library,
        },
    )
    return answer


def collect(
    *words: Text,
    model: typing.Optional[Texts] = None,
    iterations: typing.Optional[int] = None,
    load: typing.Optional[Text] = None,
    out: typing.Optional[Text] = None,
    device_type: typing.Optional[Text] = None,
    image_path: typing.Optional[Text] = None,
    gpu_needed: typing.Optional[Text] = None,
    inference_mode: typing.Optional[Text] = None,
    runtime: typing.Optional[Text] = None,
    threads: typing.Optional[int] = None,
    dim: typing.Optional[Texts] = None,
    config: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
) -> Answer:
    """Time real inferences and store them, with the machine's state, as rows to train on.

    Each model gets a file MODEL.onnx-DEVICE.csv with one row per iteration, and
    MODEL.onnx-DEVICE.kernels.csv with the times of its kernels. An interrupted or
    killed run continues where it stopped. Without --model it collects a model of
    every built-in family, on images of 96 x 96. The flags with an underscore are those of
    the original's collection_metrics.py.

    Example: edgeprof.collect(model="models", runtime="go", out="data")

    Command: edgeprof collect
    model: an .onnx file, or a directory of them; may be repeated (default: a model of every built-in family)
    iterations: rows per model (default 100)
    load: background load during each inference: none, or stress (busy cores, 20 to 80 % at random) (default none)
    out: directory for the rows (default .)
    device_type: type of this device: desktop, raspberrypi or jetson (the setting device)
    image_path: directory of images to run on (the setting images)
    gpu_needed: whether inferences need a GPU: only false, since no runtime here uses one
    inference_mode: mode of inferences: only simple, one after another
    runtime: runtime: ort (ONNX Runtime, through edgeprof-ort), go (built in), or auto (ort if it loads, else go) (default auto)
    threads: threads per inference (default 1)
    dim: size of an open dimension, such as batch=4 or INPUT:AXIS=640 (default: the exporter's hint, or by its name: 224 for a height or width, 128 for a sequence, a second of samples; else 1)
    config: settings file, YAML or JSON
    set: one setting, KEY=VALUE; may be repeated
    """
    answer: Answer = ask(
        ["collect"],
        words,
        {
            "model": model,
            "iterations": iterations,
            "load": load,
            "out": out,
            "device_type": device_type,
            "image_path": image_path,
            "gpu_needed": gpu_needed,
            "inference_mode": inference_mode,
            "runtime": runtime,
            "threads": threads,
            "dim": dim,
            "config": config,
            "set": set,
        },
    )
    return answer


def eval(
    *words: Text,
    data: Text,
    model: Text,
    plots: typing.Optional[Text] = None,
) -> Answer:
    """Compare a trained model with collected measurements that it has not seen.

    Example: edgeprof.eval(model="model.json", data="rows.csv")

    Command: edgeprof eval
    data: directory of collected files, or one file
    model: model file written by train
    plots: directory for plots (default: none)
    """
    answer: Answer = ask(
        ["eval"],
        words,
        {
            "data": data,
            "model": model,
            "plots": plots,
        },
    )
    return answer


def inspect(
    *words: Text,
    dim: typing.Optional[Texts] = None,
    ort_library: typing.Optional[Text] = None,
    size: typing.Optional[Texts] = None,
    verify: typing.Optional[bool] = None,
) -> Answer:
    """Count a model's layers, parameters, operations and memory.

    Example: edgeprof.inspect("model.onnx", dim="batch=4")

    Command: edgeprof inspect MODEL.onnx
    dim: size of an open dimension, such as batch=4 or INPUT:AXIS=640 (default: the exporter's hint, or by its name: 224 for a height or width, 128 for a sequence, a second of samples; else 1)
    ort_library: path of libonnxruntime.so (default: searched in the Python environment, node_modules, python3's packages and the system's directories)
    size: value of an input that decides sizes within the model, such as INPUT=480,640
    verify: run the model once in ONNX Runtime, without optimisations, and compare its shapes with the inferred ones
    """
    answer: Answer = ask(
        ["inspect"],
        words,
        {
            "dim": dim,
            "ort-library": ort_library,
            "size": size,
            "verify": verify,
        },
    )
    return answer


def layers(
    *words: Text,
    dim: typing.Optional[Texts] = None,
    size: typing.Optional[Texts] = None,
    calibration: typing.Optional[Text] = None,
    runtime: typing.Optional[Text] = None,
    measure: typing.Optional[bool] = None,
    ort_library: typing.Optional[Text] = None,
) -> Answer:
    """Show every kernel of a model: shape, work, predicted time and, with --measure, the measured one.

    Example: edgeprof.layers("resnet.onnx", measure=True, runtime="ort")

    Command: edgeprof layers MODEL
    dim: size of an open dimension, such as batch=4 or INPUT:AXIS=640 (default: the exporter's hint, or by its name: 224 for a height or width, 128 for a sequence, a second of samples; else 1)
    size: value of an input that decides sizes within the model, such as INPUT=480,640
    calibration: rates of this machine (default: those of edgeprof calibrate, or the built-in ones)
    runtime: runtime: go or ort (default: that of the rates)
    measure: run the model and add the measured time of each kernel
    ort_library: path of libonnxruntime.so (default: searched in the Python environment, node_modules, python3's packages and the system's directories)
    """
    answer: Answer = ask(
        ["layers"],
        words,
        {
            "dim": dim,
            "size": size,
            "calibration": calibration,
            "runtime": runtime,
            "measure": measure,
            "ort-library": ort_library,
        },
    )
    return answer


def rank(
    *words: Text,
    source: typing.Optional[Text] = None,
    prometheus: typing.Optional[Text] = None,
    calibration: typing.Optional[Text] = None,
    dim: typing.Optional[Texts] = None,
    size: typing.Optional[Texts] = None,
    ort_library: typing.Optional[Text] = None,
    runtime: typing.Optional[Text] = None,
    config: typing.Optional[Text] = None,
    set: typing.Optional[Settings] = None,
) -> Candidates:
    """Rank devices by the predicted time of one inference.

    Example: edgeprof.rank("resnet.onnx", source="file:boards.json")

    Command: edgeprof rank MODEL.onnx
    source: source of devices: local this machine prometheus a cluster, from its agents and node_exporters file a list of devices: file:DEVICES.json (default local)
    prometheus: HOST:PORT or URL of Prometheus (default: $PROMETHEUS_IP)
    calibration: rates for devices without their own (default: those of edgeprof calibrate, or the built-in ones)
    dim: size of an open dimension, such as batch=4 or INPUT:AXIS=640 (default: the exporter's hint, or by its name: 224 for a height or width, 128 for a sequence, a second of samples; else 1)
    size: value of an input that decides sizes within the model, such as INPUT=480,640
    ort_library: path of libonnxruntime.so (default: searched in the Python environment, node_modules, python3's packages and the system's directories)
    runtime: runtime to predict: go or ort (default: that of each device's rates)
    config: settings file, YAML or JSON
    set: one setting, KEY=VALUE; may be repeated
    """
    answer: Answer = ask(
        ["rank"],
        words,
        {
            "source": source,
            "prometheus": prometheus,
            "calibration": calibration,
            "dim": dim,
            "size": size,
            "ort-library": ort_library,
            "runtime": runtime,
            "config": config,
            "set": set,
        },
    )
    return Candidates.read(answer)


def record(
    *words: Text,
    forget: typing.Optional[Text] = None,
    list: typing.Optional[bool] = None,
    reset: typing.Optional[bool] = None,
) -> Table:
    """Show, for each question, how many of the last 50 known outcomes of this user's
    predictions were inside their interval, and by how much the others missed. From ten
    outcomes on this widens or narrows the next interval. An outcome far outside counts
    as at most ten times the interval until ten of them agree.

    The log is $XDG_STATE_HOME/foretime/record.jsonl (by default below ~/.local/state). It contains
    values, times and hashes, but no names. Lines that cannot be read are moved to
    record.jsonl.bad.

    Example: edgeprof.record()

    Command: edgeprof record
    forget: remove the predictions of this key, or of this question, and their outcomes
    list: list predictions with their keys: all without an outcome, and the last 50 with one
    reset: remove all predictions of edgeprof and their outcomes; those of other tools stay
    """
    answer: Table = ask(
        ["record"],
        words,
        {
            "forget": forget,
            "list": list,
            "reset": reset,
        },
    )
    return answer


def time(
    *words: Text,
    runs: typing.Optional[int] = None,
    warmup: typing.Optional[int] = None,
    runtime: typing.Optional[Text] = None,
    threads: typing.Optional[int] = None,
    dim: typing.Optional[Texts] = None,
    pin: typing.Optional[typing.Sequence[int]] = None,
    quota: typing.Optional[float] = None,
    ort_library: typing.Optional[Text] = None,
    size: typing.Optional[Texts] = None,
) -> Timing:
    """Time real inferences of a model on this machine.

    Example: edgeprof.time("resnet.onnx", runs=100)

    Command: edgeprof time MODEL.onnx
    runs: timed inferences (default 20)
    warmup: untimed inferences before them (default 2)
    runtime: runtime: ort (ONNX Runtime, through edgeprof-ort), go (built in), or auto (ort if it loads, else go) (default auto)
    threads: threads per inference (default 1)
    dim: size of an open dimension, such as batch=4 or INPUT:AXIS=640 (default: the exporter's hint, or by its name: 224 for a height or width, 128 for a sequence, a second of samples; else 1)
    pin: CPUs that inferences may use, such as 0 or 0,1 (default: any)
    quota: fraction of CPU time for inferences, above 0 and at most 1 (default 1)
    ort_library: path of libonnxruntime.so (default: searched in the Python environment, node_modules, python3's packages and the system's directories)
    size: value of an input that decides sizes within the model, such as INPUT=480,640
    """
    answer: Answer = ask(
        ["time"],
        words,
        {
            "runs": runs,
            "warmup": warmup,
            "runtime": runtime,
            "threads": threads,
            "dim": dim,
            "pin": pin,
            "quota": quota,
            "ort-library": ort_library,
            "size": size,
        },
    )
    return Timing.read(answer)


def train(
    *words: Text,
    data: Text,
    out: typing.Optional[Text] = None,
    cv: typing.Optional[Text] = None,
    plots: typing.Optional[Text] = None,
    calibrations: typing.Optional[Text] = None,
) -> Answer:
    """Fit a model to collected measurements and evaluate it.

    It is evaluated by cross-validation: each family of models is left out in turn,
    or each device (its operator chains stay in), or each tenth of the rows (other
    rows of the same model stay in). The saved model is fitted to all rows.

    Example: edgeprof.train(data="rows", out="model.json")

    Command: edgeprof train
    data: directory of collected files, or one file
    out: model file to write (default model.json)
    cv: what cross-validation leaves out: family, device or row (default family)
    plots: directory for plots of the evaluation (default: none)
    calibrations: directory for the rates of each setting, for rank and serve (default: none)
    """
    answer: Answer = ask(
        ["train"],
        words,
        {
            "data": data,
            "out": out,
            "cv": cv,
            "plots": plots,
            "calibrations": calibrations,
        },
    )
    return answer


def transfer(
    *words: Text,
    table: Texts,
    models: typing.Optional[Text] = None,
    cpu_only: typing.Optional[bool] = None,
    anchors: typing.Optional[int] = None,
    leave_out: typing.Optional[Text] = None,
    judge: typing.Optional[Text] = None,
    seed: typing.Optional[int] = None,
) -> Answer:
    """Evaluate how well a few measured models predict the others on a new device. Each
    chip is left out of the table in turn, with all its boards, and each of its
    configurations (run, threads, power, processor) is predicted from a few of its own
    measurements, the anchors. To predict your own device, use adapt.

    Example: edgeprof.transfer(table="latency.csv", anchors=3)

    Command: edgeprof transfer
    table: CSV files of latencies, separated by commas: board, chip, run, threads, powersave, gpu_device, model, avg_ms
    models: directory of the models' ncnn graphs, MODEL.param
    cpu_only: ignore rows of a GPU
    anchors: measured models per configuration (default 3)
    leave_out: what is left out at a time: chip (default chip)
    judge: file with the chips to evaluate, one per line (default: all)
    seed: random seed of the folds that intervals are learned from (default 1)
    """
    answer: Answer = ask(
        ["transfer"],
        words,
        {
            "table": table,
            "models": models,
            "cpu-only": cpu_only,
            "anchors": anchors,
            "leave-out": leave_out,
            "judge": judge,
            "seed": seed,
        },
    )
    return answer

