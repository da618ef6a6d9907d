"""Trains a small network in tinygrad, step by step and then as a graph.

usage: framework_tinygrad.py [SECONDS CSV]: rows of start and end in ns, milliseconds; it waits for a line when it is ready
"""

import sys
import time

from tinygrad import Tensor, TinyJit, nn
from tinygrad.helpers import Context


class Net:
    def __init__(self):
        self.first, self.second = nn.Linear(64, 128), nn.Linear(128, 10)

    def __call__(self, x):
        return self.second(self.first(x).relu())


net = Net()
optimizer = nn.optim.SGD(nn.state.get_parameters(net), lr=0.01)
x, y = Tensor.rand(32, 64).realize(), Tensor.randint(32, high=10).realize()


def step():
    with Context(TRAINING=1):
        optimizer.zero_grad()
        loss = net(x).sparse_categorical_crossentropy(y).backward()
        optimizer.step()
        return loss.realize()


if len(sys.argv) == 1:
    for _ in range(5):
        step().item()
    step = TinyJit(step)
    for _ in range(10):
        step().item()
    print("trained")
else:
    step = TinyJit(step)
    for _ in range(3):
        step().item()
    print("model loaded", flush=True)
    sys.stdin.readline()
    until = time.monotonic() + float(sys.argv[1])
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        print("start_timestamp_ns,end_timestamp_ns,jct_ms,max_allocated_gpu_memory_allocated_byte,max_reserved_gpu_memory_byte", file=f)
        while time.monotonic() < until:
            begin = time.monotonic_ns()
            step().item()
            end = time.monotonic_ns()
            print(f"{begin},{end},{(end - begin) / 1e6:.6f},0,0", file=f, flush=True)
