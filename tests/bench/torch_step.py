"""A training step of the benchmark's transformer in PyTorch: torch_step.py CONFIG THREADS STEPS [composed|mha]

composed: attention written with matmul and softmax. mha: nn.MultiheadAttention. Prints one line, as `bench step` does.
"""
import math
import os
import resource
import sys
import time

config, threads = sys.argv[1], sys.argv[2]
# Debian's PyTorch has two thread pools: its own, and that of its BLAS, which asks when it is loaded.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = threads

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(int(threads))
torch.manual_seed(1)
V, T, d, h, L, B = {"tiny": (32, 16, 32, 4, 1, 32),
                    "small": (64, 64, 64, 4, 2, 32),
                    "medium": (65, 256, 384, 6, 6, 8)}[config]


class Composed(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, hidden):
        n, t, _ = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, h, d // h).permute(2, 0, 3, 1, 4)  # [B, h, T, d_h] each
        scores = q @ k.transpose(-2, -1) / math.sqrt(d // h)  # [B, h, T, T]
        pattern = scores.masked_fill(hidden, -math.inf).softmax(-1)
        return self.out((pattern @ v).transpose(1, 2).reshape(n, t, d))


class FromLibrary(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, h, batch_first=True)

    def forward(self, x, hidden):
        return self.attention(x, x, x, attn_mask=hidden, need_weights=False)[0]


class Block(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.norm1, self.norm2, self.attention = nn.LayerNorm(d), nn.LayerNorm(d), attention
        self.linear1, self.linear2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def mlp(self, x):
        return self.linear2(F.gelu(self.linear1(self.norm2(x)), approximate="tanh"))

    def forward(self, x, hidden):
        x = x + self.attention(self.norm1(x), hidden)
        return x + self.mlp(x)


class Transformer(nn.Module):
    def __init__(self, attention, context):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, d), nn.Embedding(context, d)
        self.blocks = nn.ModuleList(Block(attention()) for _ in range(L))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, V, bias=False)
        self.register_buffer("hidden", torch.ones(T, T, dtype=torch.bool).triu(1))  # the future of each token

    def forward(self, tokens):
        x = self.tok(tokens) + self.pos.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x, self.hidden)
        return self.head(self.norm(x))


def main():
    steps = int(sys.argv[3])
    form = sys.argv[4] if len(sys.argv) > 4 else "composed"
    model = Transformer({"composed": Composed, "mha": FromLibrary}[form], T)
    adamw = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01)
    tokens, targets = torch.randint(V, (B, T)), torch.randint(V, (B, T))
    ms = []
    for i in range(-(steps // 10 + 1), steps):
        began = time.perf_counter()
        loss = F.cross_entropy(model(tokens).view(-1, V), targets.view(-1))
        adamw.zero_grad(set_to_none=True)
        loss.backward()
        adamw.step()
        value = loss.item()
        if i >= 0:
            ms.append((time.perf_counter() - began) * 1e3)
    ms.sort()
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"name=torch-{form} ms_per_step={(ms[(steps - 1) // 2] + ms[steps // 2]) / 2:.4f} min_ms={ms[0]:.4f} "
          f"peak_rss_mb={rss:.1f} loss={value:.4f}")


if __name__ == "__main__":
    main()
