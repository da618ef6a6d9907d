"""Runs a kernel of Taichi sixty times, without its cache of compiled kernels."""

import taichi as ti

ti.init(arch=ti.cuda, offline_cache=False, log_level=ti.ERROR)
x = ti.field(ti.f32, shape=1024)


@ti.kernel
def step():
    for i in x:
        x[i] += 1.0


for _ in range(60):
    step()
ti.sync()
print("arch", ti.lang.impl.current_cfg().arch.name)
