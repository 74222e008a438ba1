"""The row kernels of `bench rows` in PyTorch, one thread: the same measurements, line by line, in ns a number."""
import os
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch
from torch.nn import functional as F

torch.set_num_threads(1)


def report(name, numbers, body):
    """As best_seconds in bench.h: the best of eight bursts of about 2 ms."""
    def burst(calls):
        began = time.perf_counter()
        for _ in range(calls):
            body()
        return (time.perf_counter() - began) / calls

    body()
    calls = 1 + int(0.002 / burst(1))
    print(f"name={name} ns={min(burst(calls) for _ in range(8)) * 1e9 / numbers:.4f}")


def time_op(name, shape, op):
    x = torch.rand(shape, requires_grad=True)
    dy = torch.ones(shape)
    with torch.no_grad():
        report(f"{name}_forward", x.numel(), lambda: op(x))
    report(f"{name}_forward_and_backward", x.numel(), lambda: op(x).backward(dy))


def time_adamw(n):
    w = torch.rand(n, requires_grad=True)
    w.grad = torch.ones(n)
    adamw = torch.optim.AdamW([w], lr=3e-4, weight_decay=0.01)
    report(f"AdamW_{n}", n, adamw.step)


for shape in [8192, 64], [12288, 256]:
    time_op("softmax_{}x{}".format(*shape), shape, lambda x: F.softmax(x, -1))
for shape in [2048, 64], [2048, 384]:
    norm = torch.nn.LayerNorm(shape[1])
    time_op("LayerNorm_{}x{}".format(*shape), shape, norm)
time_op("GELU_524288", [524288], lambda x: F.gelu(x, approximate="tanh"))
time_adamw(102400)
time_adamw(10700000)
