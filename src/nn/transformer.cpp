#include "nn/transformer.h"

namespace headway {

Block::Block(const BlockOptions& o, Random& random)
    : attn({.embed_dim = o.embed_dim, .num_heads = o.num_heads}, random),
      mlp(o.embed_dim, o.mlp_dim, o.activation, random), norm1(o.embed_dim), norm2(o.embed_dim),
      norm_first(o.norm_first) {}

namespace {

// `attend` is the block's attention, over a whole sequence or through a cache: [B, T, D] -> [B, T, D].
template <class Attend>
Tensor residual(const Block& block, const Tensor& x, const Attend& attend) {
  if (block.norm_first) {
    const Tensor y = x + attend(block.norm1(x));  // [B, T, D]
    return y + block.mlp(block.norm2(y));         // [B, T, D]
  }
  const Tensor y = block.norm1(x + attend(x));  // [B, T, D]
  return block.norm2(y + block.mlp(y));         // [B, T, D]
}

}  // namespace

Tensor Block::operator()(const Tensor& x, const Masking& masking, Tensor* pattern) const {
  return residual(*this, x, [&](const Tensor& in) {
    const MultiheadAttention::Output out = attn.forward(in, masking);
    if (pattern) *pattern = out.pattern;  // [B, h, T, S]
    return out.out;                       // [B, T, D]
  });
}

Tensor Block::operator()(const Tensor& x, KVCache& cache) const {
  return residual(*this, x,
                  [&](const Tensor& in) { return attn.append_and_forward(in, cache).out; });  // [B, T, D]
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

Tensor Transformer::embed(const std::vector<int>& tokens, int64_t B, int64_t T, int64_t past) const {
  if (past + T > options.context) {
    const std::string counted = past > 0 ? text(" (", past, " of them cached)") : "";
    throw ShapeError(
        Message(text("Transformer: a sequence of ", past + T, " tokens", counted,
                     " is longer than the position table of ", options.context, " rows"))
            .tensor("positions", pos.weight.name(), pos.weight.shape())
            .rule("every position needs a row of its own")
            .hint(text("build the model with context ", past + T, " or more, or cut the sequence")));
  }
  std::vector<int> places;
  for (int64_t t = 0; t < T; t++) places.push_back(int(past + t));
  return tok(tokens, {B, T}) + pos(places, {T});  // [B, T, D]
}

Tensor Transformer::read_out(const Tensor& x) const {
  const Tensor y = norm_f(x);                                   // [B, T, D]
  return head ? (*head)(y) : matmul(y, transpose(tok.weight));  // [B, T, V]
}

Tensor Transformer::operator()(const std::vector<int>& tokens, int64_t B, int64_t T,
                               std::vector<Tensor>* patterns) const {
  Tensor x = embed(tokens, B, T, 0);  // [B, T, D]
  for (const Block& block : blocks) {
    Tensor pattern;
    x = block(x, {.is_causal = options.is_causal}, patterns ? &pattern : nullptr);  // [B, T, D]
    if (patterns) patterns->push_back(pattern);
  }
  return read_out(x);  // [B, T, V]
}

std::vector<KVCache> Transformer::make_caches(int64_t B, std::optional<int64_t> capacity) const {
  std::vector<KVCache> caches;
  for (const Block& block : blocks) {
    caches.emplace_back(B, block.attn.num_heads, capacity.value_or(options.context), block.attn.head_dim);
  }
  return caches;
}

namespace {

// One cache for each layer, all holding as many tokens of B items.
void expect_caches_fit(const Transformer& model, const std::vector<KVCache>& caches, int64_t B) {
  if (!model.options.is_causal) {
    throw ValueError(Message("Transformer: a model that is not causal cannot use a cache")
                         .rule("cached keys and values hold only where no token sees a later one")
                         .hint("read the whole sequence at once, or build the model with is_causal"));
  }
  if (caches.size() != model.blocks.size() || caches.empty()) {
    throw ShapeError(
        Message(text("Transformer: ", caches.size(), " caches for ", model.blocks.size(), " layers"))
            .rule("every layer has a cache of its own, and positions are counted by what they hold")
            .hint("make_caches makes one for each layer"));
  }
  for (const KVCache& cache : caches) {
    const int64_t items = cache.keys().dim(0), expected = caches[0].length();
    if (items == B && cache.length() == expected) continue;
    throw ShapeError(Message(text("Transformer: the cache of layer ", &cache - caches.data(), " holds ",
                                  cache.length(), " tokens of ", items, " items, not ", expected, " of ", B))
                         .rule("all layers have read the same tokens, of as many items as are read now")
                         .hint("clear() them all, or make new ones, and begin again with the prompt"));
  }
}

}  // namespace

Tensor Transformer::operator()(const std::vector<int>& tokens, int64_t B, int64_t T,
                               std::vector<KVCache>& caches) const {
  expect_caches_fit(*this, caches, B);
  const int64_t past = caches[0].length();
  try {
    Tensor x = embed(tokens, B, T, past);                      // [B, T, D]
    for (const KVCache& cache : caches) cache.expect_room(T);  // all, before the first takes any
    for (size_t i = 0; i < blocks.size(); i++) x = blocks[i](x, caches[i]);  // [B, T, D]
    return read_out(x);                                                      // [B, T, V]
  } catch (...) {  // some layers may have read the tokens already
    for (KVCache& cache : caches) cache.truncate(past);
    throw;
  }
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
