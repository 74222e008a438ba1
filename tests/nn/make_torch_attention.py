# Prints data/torch_attention.txt: one causal multi-head attention layer with biases, computed by PyTorch.
#   python3 tests/nn/make_torch_attention.py > data/torch_attention.txt
# Only whoever wants to renew that file needs Python; lesson 09 reads the file.
import random

import torch
from torch import nn

random.seed(9)
torch.set_default_dtype(torch.float64)
B, T, D, HEADS = 2, 5, 12, 3

print(f"""\
# One torch.nn.MultiheadAttention (embed_dim {D}, num_heads {HEADS}, biases, causal), for lesson 09.
# Computed in double precision by PyTorch {torch.__version__}:
#   python3 tests/nn/make_torch_attention.py > data/torch_attention.txt
# An entry is a line "@ name sizes", then its numbers. Weights stand as [in, out]. x is [B, T, D], pattern is
# [B, h, T, T]. "dx" is the gradient of x for the loss sum(out * projection).""")


def values(*shape):
    """Two decimals each: the file stays small, and every program reads the same numbers."""
    count = torch.Size(shape).numel()
    return torch.tensor([round(random.uniform(-1, 1), 2) for _ in range(count)]).reshape(shape)


def show(name, t):
    print("@", name, *t.shape)
    line = ""
    for number in t.detach().reshape(-1).tolist():
        word = f"{number:.8g}"
        if len(line) + len(word) > 108:
            print(line)
            line = ""
        line += (" " if line else "") + word
    print(line)


layer = nn.MultiheadAttention(D, HEADS, batch_first=True)
x = values(B, T, D).requires_grad_()
projection = values(B, T, D)
with torch.no_grad():
    for parameter in layer.parameters():
        parameter.copy_(values(*parameter.shape))

later = torch.ones(T, T).triu(1).bool()  # PyTorch's mask: true = may not attend
out, pattern = layer(x, x, x, attn_mask=later, average_attn_weights=False)
(out * projection).sum().backward()

show("x", x)
for i, name in enumerate(["q_proj", "k_proj", "v_proj"]):
    show(name + ".weight", layer.in_proj_weight[i * D:(i + 1) * D].t())
    show(name + ".bias", layer.in_proj_bias[i * D:(i + 1) * D])
show("out_proj.weight", layer.out_proj.weight.t())
show("out_proj.bias", layer.out_proj.bias)
show("projection", projection)
show("out", out)
show("pattern", pattern)
show("dx", x.grad)
