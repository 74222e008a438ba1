"""Greedy decoding with a key/value cache in PyTorch: torch_decode.py CONFIG THREADS

One sequence, a prompt of 16 tokens and 64 new ones, the weights of torch_step.py. Best of several, prompt included.
"""
import math
import time

from torch_step import config, L, T, V, Composed, Transformer, d, h, torch  # reads CONFIG and THREADS itself

PROMPT, NEW = 16, 64
context = max(T, PROMPT + NEW)
torch.set_grad_enabled(False)
model = Transformer(Composed, context)
prompt = torch.randint(V, (PROMPT,))
keys, values = torch.empty(2, L, h, context, d // h)
future = torch.ones(PROMPT, PROMPT, dtype=torch.bool).triu(1)


def attend(layer, attention, x, past):
    """x: the new tokens [n, d]; their keys and values join those of `past` earlier ones."""
    n, now = len(x), past + len(x)
    q, k, v = attention.qkv(x).view(n, 3, h, d // h).permute(1, 2, 0, 3)  # [h, n, d_h] each
    keys[layer, :, past:now], values[layer, :, past:now] = k, v
    scores = q @ keys[layer, :, :now].transpose(1, 2) / math.sqrt(d // h)  # [h, n, now]
    if n > 1:  # only the prompt: a single new token sees all there is
        scores = scores.masked_fill(future, -math.inf)
    return attention.out((scores.softmax(-1) @ values[layer, :, :now]).transpose(0, 1).reshape(n, d))


def generate():
    ids, past, made = prompt, 0, []
    for _ in range(NEW):
        x = model.tok(ids) + model.pos.weight[past : past + len(ids)]  # [n, d]
        for layer, block in enumerate(model.blocks):
            x = x + attend(layer, block.attention, block.norm1(x), past)
            x = x + block.mlp(x)
        past += len(ids)
        ids = model.head(model.norm(x[-1:])).argmax(-1)  # [1]
        made.append(int(ids))
    return made


generate()  # the first time is slow
best = math.inf
for _ in range(4):
    began = time.perf_counter()
    generate()
    best = min(best, time.perf_counter() - began)
print(f"name=greedy_decoding,_{config} ms_per_token={best * 1e3 / NEW:.5f}")
