"""Runs a pipeline of Halide sixty times."""

import halide as hl

x, y, xi, yi = (hl.Var(name) for name in ("x", "y", "xi", "yi"))
f = hl.Func("f")
f[x, y] = x + y
f.gpu_tile(x, y, xi, yi, 8, 8)
target = hl.get_host_target().with_feature(hl.TargetFeature.CUDA)
pipeline = f.compile_to_callable([], target)
out = hl.Buffer(hl.Int(32), [64, 64])
for _ in range(60):
    pipeline(out)
out.copy_to_host()
print("size", out.width(), out.height())
