"""Programs for the checks of README.md that need a GPU.

usage: checks.py launches {eager,compiled,graph,cublas,cudnn} | crash | loader | loop [SECONDS]

launches   runs one kind of work and prints how often the CUDA API launched, as
           PyTorch's profiler counts it; to be run under deft doctor
crash      works for 5 s, then reads past the end of a tensor on the device
loader     feeds the GPU from a DataLoader with forked workers
loop       times ResNet-50, batch 8, for 22 seconds or as many as are said, and
           prints the mean milliseconds of a job
"""

import json
import sys
import time

LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernelEx",
            "cudaLaunchCooperativeKernel", "cuLaunchCooperativeKernel", "cudaGraphLaunch", "cuGraphLaunch")
REPEATS = 20


def counted(events):
    """Sums the calls that launch, given pairs of API name and count."""
    return sum(count for name, count in events if name in LAUNCHES)


def work(torch, kind):
    """Returns a function that does one round of a kind of work."""
    if kind == "cublas":
        a = torch.rand(512, 512, device="cuda")
        return lambda: a @ a
    if kind == "cudnn":
        x, w = torch.rand(4, 16, 64, 64, device="cuda"), torch.rand(32, 16, 3, 3, device="cuda")
        return lambda: torch.nn.functional.conv2d(x, w)
    import torchvision

    model = torchvision.models.resnet50(weights=None).eval().cuda()
    x = torch.rand(4, 3, 224, 224, device="cuda")
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


def crash():
    """Ends with a device-side assertion, which no later call survives."""
    import torch

    a, until = torch.rand(1024, 1024, device="cuda"), time.monotonic() + 5
    while time.monotonic() < until:
        a = (a @ a).clamp(0, 1)
        torch.cuda.synchronize()
    a.flatten()[torch.tensor([1 << 40], device="cuda")].cpu()


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


def loop(seconds=22):
    """Prints the mean time of a job, the first tenth of them left out."""
    import torch
    import torchvision

    model = torchvision.models.resnet50(weights=None).eval().cuda()
    x = torch.rand(8, 3, 224, 224, device="cuda")
    times = []
    with torch.no_grad():
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            begin = time.perf_counter()
            model(x)
            torch.cuda.synchronize()
            times.append(time.perf_counter() - begin)
    times = times[len(times) // 10:]
    print(f"{1e3 * sum(times) / len(times):.4f}")


def main(argv):
    """Calls one of the programs."""
    if len(argv) == 2 and argv[0] == "launches" and argv[1] in ("eager", "compiled", "graph", "cublas", "cudnn"):
        launches(argv[1])
    elif len(argv) == 2 and argv[0] == "loop" and argv[1].isdigit() and int(argv[1]) > 0:
        loop(int(argv[1]))
    elif len(argv) == 1 and argv[0] in ("crash", "loader", "loop"):
        {"crash": crash, "loader": loader, "loop": loop}[argv[0]]()
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
