#include "nn/transformer.h"

namespace headway {

Block::Block(const BlockOptions& o, Random& random)
    : attn({.embed_dim = o.embed_dim, .num_heads = o.num_heads}, random),
      mlp(o.embed_dim, o.mlp_dim, o.activation, random), norm1(o.embed_dim), norm2(o.embed_dim),
      norm_first(o.norm_first) {}

Tensor Block::operator()(const Tensor& x, const Masking& masking, Tensor* pattern) const {
  const auto attend = [&](const Tensor& in) {
    const MultiheadAttention::Output out = attn.forward(in, masking);
    if (pattern) *pattern = out.pattern;  // [B, h, T, S]
    return out.out;                       // [B, T, D]
  };
  if (norm_first) {
    const Tensor y = x + attend(norm1(x));  // [B, T, D]
    return y + mlp(norm2(y));               // [B, T, D]
  }
  const Tensor y = norm1(x + attend(x));  // [B, T, D]
  return norm2(y + mlp(y));               // [B, T, D]
}

Parameters Block::parameters() const {
  Parameters p;
  append(p, "attn", attn.parameters());
  append(p, "mlp", mlp.parameters());
  append(p, "norm1", norm1.parameters());
  append(p, "norm2", norm2.parameters());
  return p;
}

Transformer::Transformer(const Options& o, Random& random)
    : options(o), tok(o.vocab_size, o.block.embed_dim, random), pos(o.context, o.block.embed_dim, random),
      norm_f(o.block.embed_dim) {
  for (int64_t i = 0; i < o.num_layers; i++) blocks.emplace_back(o.block, random);
  if (!o.tied) head.emplace(o.block.embed_dim, o.vocab_size, false, random);
  name_tensors(parameters());
}

Tensor Transformer::operator()(const std::vector<int>& tokens, int64_t B, int64_t T,
                               std::vector<Tensor>* patterns) const {
  if (T > options.context) {
    throw ShapeError(Message(text("Transformer: a sequence of ", T,
                                  " tokens is longer than the position table of ", options.context, " rows"))
                         .tensor("positions", pos.weight.name(), pos.weight.shape())
                         .rule("every position needs a row of its own")
                         .hint(text("build the model with context ", T, " or more, or cut the sequence")));
  }
  std::vector<int> places;
  for (int64_t t = 0; t < T; t++) places.push_back(int(t));
  Tensor x = tok(tokens, {B, T}) + pos(places, {T});  // [B, T, D]
  for (const Block& block : blocks) {
    Tensor pattern;
    x = block(x, {.is_causal = options.is_causal}, patterns ? &pattern : nullptr);
    if (patterns) patterns->push_back(pattern);
  }
  const Tensor y = norm_f(x);                                   // [B, T, D]
  return head ? (*head)(y) : matmul(y, transpose(tok.weight));  // [B, T, V]
}

Parameters Transformer::parameters() const {
  Parameters p;
  append(p, "tok", tok.parameters());
  append(p, "pos", pos.parameters());
  for (size_t i = 0; i < blocks.size(); i++) append(p, text("blocks.", i), blocks[i].parameters());
  append(p, "norm_f", norm_f.parameters());
  if (head) append(p, "head", head->parameters());
  return p;
}

}  // namespace headway
