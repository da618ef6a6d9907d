"""One DNN model as a client of a shared GPU, for deft run --device cuda.

usage: run_model.py FILE DEVICE DUR [--sync-model-load] [--min-jobs N] [--slo-ms MS]
                    [--period-ms MS] [--compile]

FILE is one entry of "models" in an experiment's configuration, as JSON; DEVICE a
CUDA ordinal, or cpu; DUR the seconds for which jobs begin. The weights are random
and the image is generated: only times matter. Jobs run one after another, one
CSV row each, the first a warm-up. With --sync-model-load, "model loaded" is
printed after the warm-up and the jobs wait for a line "run" on standard input.

Exit status: 0 done, 1 the model or a file failed, 2 wrong usage.
"""

import argparse
import ctypes
import json
import os
import sys
import time

HEADER = "start_timestamp_ns,end_timestamp_ns,jct_ms,max_allocated_gpu_memory_allocated_byte,max_reserved_gpu_memory_byte"
TOKENS = 128  # of a sequence, for text models


class Refused(Exception):
    """The configuration asks for what cannot be done."""


def read_model(path):
    """Returns the model of a configuration file, with every field checked."""
    with open(path, encoding="utf-8") as f:
        try:
            entry = json.load(f)
        except ValueError as e:
            raise Refused(f"{path}: {e}") from e
    if not isinstance(entry, dict):
        raise Refused(f"{path}: want one model, an object")
    model = {
        "name": field(path, entry, "model_name", str, None),
        "sleep_s": field(path, entry, "sleep_time", (int, float), 0),
        "directory": field(path, entry, "output_file_path", str, "."),
        "stem": field(path, entry, "output_file_name", str, None),
        "batch": field(path, entry, "batch_size", int, 1),
        "resize": field(path, entry, "resize", bool, True),
        "size": field(path, entry, "resize_size", list, [224, 224]),
        "sync_level": field(path, entry, "sync_level", str, ""),
    }
    if model["batch"] < 1:
        raise Refused(f"{path}: batch_size: {model['batch']}, want at least 1")
    if model["sleep_s"] < 0:
        raise Refused(f"{path}: sleep_time: {model['sleep_s']}, want at least 0")
    size = model["size"]
    if len(size) != 2 or not all(isinstance(n, int) and n > 0 for n in size):
        raise Refused(f"{path}: resize_size: {size}, want [height, width] in pixels")
    return model


def field(path, entry, name, kind, default):
    """Returns a field of the entry; without a default it must be there."""
    if name not in entry:
        if default is None:
            raise Refused(f"{path}: {name}: missing")
        return default
    value = entry[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Refused(f"{path}: {name}: {value!r} is of the wrong type")
    return value


def csv_path(model):
    """Returns where the model's rows go."""
    return os.path.join(model["directory"], model["stem"] + ".csv")


def csv_row(start_ns, end_ns, allocated, reserved):
    """Returns one row: times in nanoseconds of CLOCK_MONOTONIC, memory in bytes."""
    return f"{start_ns},{end_ns},{(end_ns - start_ns) / 1e6:.6f},{allocated},{reserved}"


def wait_for_run(stdin, stdout):
    """Tells the parent that the model is loaded, and returns when it says run."""
    print("model loaded", file=stdout, flush=True)
    line = stdin.readline()
    if line != "run\n":
        raise Refused(f'standard input: {line!r}, want "run"')


def run_jobs(job, duration_s, min_jobs, pause_s, period_s=0, now=time.perf_counter, sleep=time.sleep):
    """Calls job until both limits are reached, with a pause after each, or, with
    a period, from the begin of one to that of the next where it is done by then."""
    until, jobs = now() + duration_s, 0
    while jobs < min_jobs or now() < until:
        begin = now()
        job()
        jobs += 1
        rest = begin + period_s - now() if period_s else pause_s
        if rest > 0:
            sleep(rest)
    return jobs


def detections(outputs):
    """Returns how many boxes a detector found, None for other models."""
    if isinstance(outputs, (list, tuple)) and outputs and all(isinstance(o, dict) and "scores" in o for o in outputs):
        return sum(len(o["scores"]) for o in outputs)
    return None


def marks():
    """Returns deft's begin and end of a job, or two that do nothing."""
    program = ctypes.CDLL(None)
    try:
        begin, end = program.deft_job_begin, program.deft_job_end
    except AttributeError:  # the hook is not loaded
        return lambda slo_ns: 0, lambda: 0
    begin.argtypes, end.argtypes = [ctypes.c_uint64], []
    return begin, end


class Text:
    """Makes a decoder of the size of GPT-2: 12 layers, 768 wide, 12 heads."""

    def __new__(cls, torch):
        nn = torch.nn
        layer = nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", batch_first=True)
        return nn.Sequential(nn.Embedding(50257, 768), nn.TransformerEncoder(layer, 12), nn.Linear(768, 50257, bias=False))


def is_text(name):
    """Says whether a name is one of upstream's language models; all are of one size here."""
    return any(known in name.lower() for known in ("gpt2", "codegen", "bloom"))


def build(model, torch, torchvision):
    """Returns a module with random weights and the input of one job."""
    name, batch = model["name"], model["batch"]
    height, width = model["size"]
    if is_text(name):
        return Text(torch), (torch.randint(0, 50257, (batch, TOKENS)),)
    image = torch.rand(3, height, width)
    for family in (torchvision.models.detection, torchvision.models.segmentation, torchvision.models):
        make = getattr(family, name, None)
        if not callable(make) or isinstance(make, type):
            continue
        if family is torchvision.models:
            return make(weights=None), (image.expand(batch, -1, -1, -1).contiguous(),)
        options = {"weights": None, "weights_backbone": None}
        if family is torchvision.models.segmentation:
            return make(**options), (image.expand(batch, -1, -1, -1).contiguous(),)
        if model["resize"] and not name.startswith("ssd"):  # ssd models have one size, their own
            options.update(min_size=min(height, width), max_size=max(height, width))
        return make(**options), ([image.clone() for _ in range(batch)],)
    raise Refused(f"model_name: torchvision has no {name!r}, and it is not gpt2, codegen or bloom")


def to_device(value, device):
    """Moves a tensor, or the tensors of a list or tuple."""
    if isinstance(value, (list, tuple)):
        return type(value)(to_device(v, device) for v in value)
    return value.to(device)


def load(model, where, compiled):
    """Returns a function that runs one job to its end, and one for its memory."""
    import torch
    import torchvision

    torch.manual_seed(1)
    device = torch.device(where if where == "cpu" else f"cuda:{where}")
    on_gpu = device.type == "cuda"
    if on_gpu and not torch.cuda.is_available():
        raise Refused(f"device {where}: this PyTorch {torch.__version__} finds no CUDA device")
    module, inputs = build(model, torch, torchvision)
    module = module.eval().to(device)
    inputs = to_device(inputs, device)
    wait = (lambda: torch.cuda.synchronize(device)) if on_gpu else lambda: None
    if model["sync_level"] == "layer":
        for part in module.modules():
            if not list(part.children()):
                part.register_forward_hook(lambda *_: wait())
    if compiled:
        module = torch.compile(module)

    def job():
        with torch.no_grad():
            outputs = module(*inputs)
        wait()
        return detections(outputs)

    def memory():
        if not on_gpu:
            return 0, 0
        return torch.cuda.max_memory_allocated(device), torch.cuda.max_memory_reserved(device)

    return job, memory


def arguments(argv):
    """Returns the parsed command line; ends the program on wrong usage."""
    parser = argparse.ArgumentParser(prog="run_model.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("device", metavar="DEVICE", type=lambda s: s if s == "cpu" else str(int(s)))
    parser.add_argument("duration", metavar="DUR", type=float)
    parser.add_argument("--sync-model-load", action="store_true", help="wait for a line run on standard input")
    parser.add_argument("--min-jobs", type=int, default=10, help="jobs at least (%(default)s)")
    parser.add_argument("--slo-ms", type=float, default=0, help="time within which a job should be done, told to the hook")
    parser.add_argument("--period-ms", type=float, default=0, help="from the begin of a job to that of the next, in place of sleep_time")
    parser.add_argument("--compile", action="store_true", help="run the model through torch.compile")
    return parser.parse_args(argv)


def run(args):
    """Runs the experiment's part of one model."""
    model = read_model(args.file)
    job, memory = load(model, args.device, args.compile)
    begin, end = marks()
    slo_ns = int(args.slo_ms * 1e6)
    found = []
    os.makedirs(model["directory"], exist_ok=True)
    with open(csv_path(model), "w", encoding="ascii") as rows:
        print(HEADER, file=rows, flush=True)

        def timed():
            start_ns = time.perf_counter_ns()
            begin(slo_ns)
            found.append(job())
            end()
            print(csv_row(start_ns, time.perf_counter_ns(), *memory()), file=rows, flush=True)

        timed()
        if args.sync_model_load:
            wait_for_run(sys.stdin, sys.stdout)
        jobs = run_jobs(timed, args.duration, args.min_jobs, model["sleep_s"], args.period_ms / 1e3)
    print(f"jobs {jobs}", flush=True)
    if found[-1] is not None:  # with random weights the heads may have had nothing to do
        print(f"run_model.py: {sum(found)} detections in {len(found)} jobs", file=sys.stderr, flush=True)


def main():
    """Runs, and turns what went wrong into one line and an exit status."""
    args = arguments(sys.argv[1:])
    try:
        run(args)
    except (Refused, OSError, ImportError, RuntimeError) as e:
        print(f"run_model.py: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
