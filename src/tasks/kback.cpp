#include "tasks/kback.h"

namespace headway {

namespace {
constexpr uint64_t fresh_data_seed = 1000003;  // the data that nothing is trained on

std::vector<int> places(int T) {
  std::vector<int> out;
  for (int t = 0; t < T; t++) out.push_back(t);
  return out;
}
}  // namespace

KBackBatch kback_batch(const KBackOptions& o, Random& random) {
  KBackBatch batch;
  for (int b = 0; b < o.batch; b++) {
    for (int t = 0; t < o.length; t++) {
      batch.tokens.push_back(random.below(o.vocab_size));
      for (int j = 1; j <= o.k; j++) {
        batch.targets.push_back(t < o.k ? -100 : batch.tokens[batch.tokens.size() - 1 - size_t(j)]);
      }
    }
  }
  return batch;
}

KBackModel::KBackModel(const KBackOptions& o, Random& random)
    : options(o), tok(o.vocab_size, o.embed_dim, random), pos(o.length, o.embed_dim, random),
      attn({.embed_dim = o.embed_dim, .num_heads = o.num_heads, .bias = false}, random),
      readers(o.embed_dim, o.k * o.vocab_size, true, random) {
  if (o.mlp_dim > 0) mlp.emplace(o.embed_dim, o.mlp_dim, Activation::relu, random);
}

KBackModel::Output KBackModel::forward(const std::vector<int>& tokens, const Tensor& gate) const {
  const int64_t T = options.length, B = int64_t(tokens.size()) / T, h = options.num_heads;
  Tensor x = tok(tokens, {B, T});                           // [B, T, D]
  if (options.positions) x = x + pos(places(int(T)), {T});  // [B, T, D]
  const Masking causal = {.is_causal = true};

  MultiheadAttention::Output read;
  if (options.project && options.mix) {
    read = attn.forward(x, causal, {}, gate);
  } else {
    const Tensor q = split_heads(options.project ? attn.q_proj(x) : x, h);  // [B, h, T, d_h]
    const Tensor k = split_heads(options.project ? attn.k_proj(x) : x, h);  // [B, h, T, d_h]
    const Tensor v = split_heads(options.project ? attn.v_proj(x) : x, h);  // [B, h, T, d_h]
    const Attended attended = attention(q, k, v, causal);
    const Tensor merged = merge_heads(attended.z);  // [B, T, D]
    read = {options.mix ? attn.out_proj(merged) : merged, attended.pattern, attended.z};
  }
  const Tensor seen = mlp ? (*mlp)(read.out) : read.out;  // [B, T, D]
  const Tensor logits = readers(seen);                    // [B, T, k V]
  return {reshape(logits, {B, T, options.k, options.vocab_size}), read.pattern};
}

Parameters KBackModel::parameters() const {
  Parameters p;
  append(p, "tok", tok.parameters());
  if (options.positions) append(p, "pos", pos.parameters());
  Parameters a = attn.parameters();
  if (!options.project) a.erase(a.begin(), a.begin() + 3);  // q_proj, k_proj, v_proj
  if (!options.mix) a.pop_back();                           // out_proj
  append(p, "attn", a);
  if (mlp) append(p, "mlp", mlp->parameters());
  append(p, "readers", readers.parameters());
  return p;
}

KBackModel train_kback(const KBackOptions& options, int seed, int steps) {
  Random random{uint64_t(seed)};
  Random weights = random.split(), data = random.split();
  KBackModel model(options, weights);
  fit(model.parameters(), {.steps = steps, .lr = Scalar(3e-3)}, [&](int) {
    const KBackBatch batch = kback_batch(options, data);
    return cross_entropy(model.forward(batch.tokens).logits, batch.targets);  // []
  });
  return model;
}

KBackScore score_kback(const KBackModel& model, const Tensor& gate) {
  const NoGrad no_grad;
  KBackOptions options = model.options;
  options.batch = 1000;
  Random data(fresh_data_seed);
  const KBackBatch batch = kback_batch(options, data);
  const Tensor logits = model.forward(batch.tokens, gate).logits;  // [B, T, k, V]
  KBackScore score = {
      accuracy(logits, batch.targets), {}, double(cross_entropy(logits, batch.targets).item())};
  for (int j = 0; j < options.k; j++) {
    std::vector<int> only = batch.targets;
    for (size_t i = 0; i < only.size(); i++) {
      if (int(i) % options.k != j) only[i] = -100;
    }
    score.per_answer.push_back(accuracy(logits, only));
  }
  return score;
}

Tensor mean_pattern(const KBackModel& model) {
  const NoGrad no_grad;
  KBackOptions options = model.options;
  options.batch = 200;
  Random data(fresh_data_seed);
  return mean(model.forward(kback_batch(options, data).tokens).pattern, {0});  // [h, T, T]
}

}  // namespace headway
