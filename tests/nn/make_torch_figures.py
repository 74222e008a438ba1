# Prints data/torch_block.txt: inputs, parameters, results and gradients of small layers, computed by PyTorch.
#   python3 tests/nn/make_torch_figures.py > data/torch_block.txt
# Only whoever wants to renew that file needs Python; the tests read the file.
import random

import torch
import torch.nn.functional as F
from torch import nn

print(f"""\
# Inputs, parameters, results and gradients of small layers, for tests/nn/figures.h.
# Computed in double precision by PyTorch {torch.__version__}:
#   python3 tests/nn/make_torch_figures.py > data/torch_block.txt
# An entry is a line "@ name sizes", then its numbers. Weights of linear layers stand as [in, out]. The
# gradient of name is "d name", for the loss sum(y * projection), or for the mean cross entropy.""")

random.seed(20)
torch.set_default_dtype(torch.float64)
B, T, D, HEADS, F_, V, CONTEXT = 5, 4, 6, 2, 3, 7, 8


def values(shape, low=-1.0, high=1.0):
    """Two decimals each, so that the file stays small and every program reads the same numbers."""
    count = torch.Size(shape).numel()
    return torch.tensor([round(random.uniform(low, high), 2) for _ in range(count)]).reshape(shape)


def show(name, t):
    print("@", name, *t.shape)
    line = ""
    for x in t.detach().reshape(-1).tolist():
        word = f"{x:.6g}" if abs(x) > 1e-12 else "0"
        if len(line) + len(word) > 108:
            print(line)
            line = ""
        line += (" " if line else "") + word
    print(line)


def in_out(name, t):
    """The weight of a linear layer as [in, out]; tables and vectors as they are."""
    is_table = "tok." in name or "pos." in name
    return t.t() if name.endswith("weight") and t.dim() == 2 and not is_table else t


def run(case, parameters, x, f):
    """Shows y = f(x) and the gradients of sum(y * projection)."""
    y = f(x)
    projection = values(y.shape)
    (y * projection).sum().backward()
    show(case + ".projection", projection)
    show(case + ".y", y)
    if x is not None and x.requires_grad:
        show("d " + case + ".x", x.grad)
        x.grad = None
    for name, p in parameters:
        show(f"d {case}.{name}", in_out(f"{case}.{name}", p.grad))
        p.grad = None


def fill(module):
    with torch.no_grad():
        for name, p in module.named_parameters():
            around_one = "norm" in name and name.endswith("weight")
            p.copy_(values(p.shape, 0.5, 1.5) if around_one else values(p.shape))


def named(module):
    """The parameters of an encoder layer under Headway's names, q, k and v apart."""
    for name, p in module.named_parameters():
        name = name.replace("self_attn", "attn")
        if "linear" in name:
            name = name.replace("linear", "mlp.linear")
        if "in_proj_" in name:
            for part, piece in zip("qkv", [slice(i * D, (i + 1) * D) for i in range(3)]):
                yield name.replace("in_proj_", part + "_proj."), p, piece
        else:
            yield name, p, slice(None)


class Piece:
    """A slice of a parameter, with the same slice of its gradient."""

    def __init__(self, p, piece):
        self.p, self.piece = p, piece

    @property
    def grad(self):
        return self.p.grad[self.piece]

    @grad.setter
    def grad(self, nothing):
        pass


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


linear = nn.Linear(4, 5)
fill(linear)
x = values([2, 3, 4]).requires_grad_()
show("linear.x", x)
for name, p in linear.named_parameters():
    show("linear." + name, in_out(name, p))
run("linear", list(linear.named_parameters()), x, linear)

table = nn.Embedding(5, 3)
fill(table)
ids = torch.tensor([[4, 0, 4], [1, 4, 0]])
show("tok.weight", table.weight)
show("tok.ids", ids)
run("tok", [("weight", table.weight)], None, lambda _: table(ids))

norm = nn.LayerNorm(6)
with torch.no_grad():
    norm.weight.copy_(values([6], 0.5, 1.5))
    norm.bias.copy_(values([6]))
x = values([2, 3, 6], -2, 3).requires_grad_()
show("norm.x", x)
show("norm.weight", norm.weight)
show("norm.bias", norm.bias)
run("norm", list(norm.named_parameters()), x, norm)

mlp = nn.ModuleDict({"linear1": nn.Linear(4, F_), "linear2": nn.Linear(F_, 4)})
fill(mlp)
x = values([2, 5, 4], -2, 2).requires_grad_()
show("mlp.x", x)
for name, p in mlp.named_parameters():
    show("mlp." + name, in_out(name, p))
for case, f in [("relu", F.relu), ("gelu_erf", F.gelu), ("gelu_tanh", gelu_tanh)]:
    run("mlp." + case, list(mlp.named_parameters()), x, lambda v: mlp["linear2"](f(mlp["linear1"](v))))


def layer(activation, norm_first):
    return nn.TransformerEncoderLayer(D, HEADS, F_, 0.0, activation, batch_first=True, norm_first=norm_first)


pre, post = layer(gelu_tanh, True), layer(F.gelu, False)
fill(pre)
post.load_state_dict(pre.state_dict())
later = torch.ones(T, T).triu(1).bool()  # PyTorch's masks: true = may not attend
lengths = torch.tensor([4, 1, 3, 2, 4])
padding = torch.arange(T)[None, :] >= lengths[:, None]
x = values([B, T, D]).requires_grad_()
show("block.x", x)
show("block.lengths", lengths)
for name, p, piece in named(pre):
    show("block." + name, in_out(name, p[piece]))
run("block.pre", [(n, Piece(p, s)) for n, p, s in named(pre)], x, lambda v: pre(v, src_mask=later))
run("block.post", [(n, Piece(p, s)) for n, p, s in named(post)], x,
    lambda v: post(v, src_key_padding_mask=padding))

model = nn.ModuleDict({
    "tok": nn.Embedding(V, D), "pos": nn.Embedding(CONTEXT, D),
    "blocks": nn.ModuleList([layer(gelu_tanh, True) for _ in range(2)]),
    "norm_f": nn.LayerNorm(D), "head": nn.Linear(D, V, bias=False)})
fill(model)
tokens = torch.randint(0, V, [B, T], generator=torch.Generator().manual_seed(3))
targets = torch.randint(0, V, [B, T], generator=torch.Generator().manual_seed(4))
targets[:, 0] = -100
show("transformer.tokens", tokens)
show("transformer.targets", targets)


def parameters():
    for name, p in model.named_parameters():
        if not name.startswith("blocks"):
            yield name, p, slice(None)
    for i, block in enumerate(model["blocks"]):
        for name, p, piece in named(block):
            yield f"blocks.{i}.{name}", p, piece


for name, p, piece in parameters():
    show("transformer." + name, in_out(name, p[piece]))
for case in ["untied", "tied"]:
    model.zero_grad(set_to_none=True)
    x = model["tok"](tokens) + model["pos"].weight[:T]
    for block in model["blocks"]:
        x = block(x, src_mask=later)
    x = model["norm_f"](x)
    logits = model["head"](x) if case == "untied" else x @ model["tok"].weight.t()
    loss = F.cross_entropy(logits.reshape(-1, V), targets.reshape(-1))
    loss.backward()
    show(f"transformer.{case}.logits", logits)
    show(f"transformer.{case}.loss", loss)
    for name, p, piece in parameters():
        # Tied, the gradient of the table is what differs; of the rest three stand for all.
        few = name in ("tok.weight", "pos.weight", "norm_f.weight", "blocks.0.attn.q_proj.weight")
        if case == "untied" or few:
            show(f"d transformer.{case}.{name}", in_out(name, p.grad[piece]))
