// Layers, models and optimisers of the torch cases.
#include <functional>

#include "core/node.h"
#include "nn/cache.h"
#include "nn/optim.h"
#include "nn/transformer.h"
#include "torch_run.h"

namespace conformance {
namespace {

// The same numbers in a tensor of their own.
Tensor copy(const Tensor& t) { return Tensor::from(t.shape(), t.values()); }

Tensor stack(const std::vector<Tensor>& steps) {
  std::vector<Tensor> rows;
  for (const Tensor& t : steps) {
    Shape shape = t.shape();
    shape.insert(shape.begin(), 1);
    rows.push_back(reshape(t, shape));
  }
  return concat(rows, 0);
}

// The layers take transposed pieces of the leaves as their weights, so gradients arrive in PyTorch's layout.
void load(Linear& layer, const Tensor& weight, const Tensor& bias) {
  layer.weight = transpose(weight);  // [in, out]
  layer.bias = bias;                 // [out]
}

void load(const Run& r, const std::string& prefix, Linear& layer) {
  load(layer, r.in(prefix + "weight"), r.maybe(prefix + "bias"));
}

void load(const Run& r, const std::string& prefix, LayerNorm& layer) {
  layer.weight = r.in(prefix + "weight");
  layer.bias = r.in(prefix + "bias");
}

void load(const Run& r, const std::string& prefix, MultiheadAttention& layer) {
  const Tensor weight = r.in(prefix + "in_proj_weight");  // [3 D, D]
  const Tensor bias = r.maybe(prefix + "in_proj_bias");   // [3 D]
  const int64_t D = weight.dim(1);
  Linear* const thirds[] = {&layer.q_proj, &layer.k_proj, &layer.v_proj};
  for (int64_t i = 0; i < 3; i++) {
    load(*thirds[i], slice(weight, 0, i * D, (i + 1) * D),
         bias.defined() ? slice(bias, 0, i * D, (i + 1) * D) : bias);
  }
  load(r, prefix + "out_proj_", layer.out_proj);
}

void load(const Run& r, const std::string& prefix, Block& block) {
  load(r, prefix + "self_attn_", block.attn);
  load(r, prefix + "linear1_", block.mlp.linear1);
  load(r, prefix + "linear2_", block.mlp.linear2);
  load(r, prefix + "norm1_", block.norm1);
  load(r, prefix + "norm2_", block.norm2);
}

// A causal mask comes as a file. `by_flag`: use is_causal instead. Some cases go one way, some the other.
Masking masking(const Run& r, bool by_flag) {
  Masking masking;
  masking.is_causal = by_flag && r.flag("causal");
  if (masking.is_causal) masking.past = 0;
  const bool by_file = r.has("attn_mask") && !masking.is_causal;
  if (by_file) masking.allow = r.allowed("attn_mask", r.in("attn_mask").shape());
  if (r.has("key_padding_mask")) {
    const Tensor blocked = r.in("key_padding_mask");  // [B, S]
    const Allow keys = r.allowed("key_padding_mask", {blocked.dim(0), 1, 1, blocked.dim(1)});
    masking.allow = masking.allow ? *masking.allow & keys : keys;
  }
  return masking;
}

BlockOptions block_options(const Run& r) {
  BlockOptions options{.embed_dim = r.integer("d"), .num_heads = r.integer("h"), .mlp_dim = r.integer("ff")};
  const bool relu = r.config.find("act") && r.config.at("act").text() == "relu";
  options.activation = relu ? Activation::relu : Activation::gelu_erf;
  options.norm_first = r.flag("norm_first", true);
  return options;
}

Transformer load_model(const Run& r) {
  Random random(1);
  Transformer::Options options{.vocab_size = r.integer("V"), .context = r.integer("Tmax")};
  options.num_layers = r.integer("layers");
  options.block = block_options(r);
  options.tied = r.flag("tied");
  Transformer model(options, random);
  model.tok.weight = r.in("tok_weight");
  model.pos.weight = r.in("pos_weight");
  for (size_t i = 0; i < model.blocks.size(); i++) load(r, text("blocks_", i, "_"), model.blocks[i]);
  load(r, "norm_f_", model.norm_f);
  if (model.head) load(r, "head_", *model.head);
  return model;
}

// Ten steps of AdamW on one batch, with parameters of their own: the loaded ones are pieces of leaves.
void train(Run& r, const Transformer& loaded, const std::vector<int>& inputs,
           const std::vector<int>& targets) {
  Random random(1);
  Transformer model(loaded.options, random);
  const std::vector<Tensor> from = tensors(loaded.parameters());
  std::vector<Tensor> parameters = tensors(model.parameters());
  for (size_t i = 0; i < from.size(); i++) {
    std::copy(from[i].values().begin(), from[i].values().end(), parameters[i].mutable_values().begin());
  }
  Adam adam(parameters, {r.number("lr"), Scalar(0.9), Scalar(0.95), Scalar(1e-8), Scalar(0.1)});
  std::vector<Tensor> losses, norms;
  for (int64_t step = 0; step < r.integer("steps"); step++) {
    zero_grad(parameters);
    const Tensor loss = cross_entropy(model(inputs, r.integer("B"), r.integer("T")), targets);  // []
    loss.backward();
    losses.push_back(loss.detach());
    norms.push_back(Tensor::full({}, clip_grad_norm(parameters, 1)));
    adam.step();
  }
  r.out("loss_per_step", stack(losses));
  r.out("grad_norm_before_clip", stack(norms));
  r.out("final_tok_weight", model.tok.weight);
  std::vector<Tensor> thirds;
  const MultiheadAttention& attn = model.blocks[0].attn;
  for (const Tensor& w : {attn.q_proj.weight, attn.k_proj.weight, attn.v_proj.weight}) {
    thirds.push_back(transpose(w));  // [D, D]
  }
  r.out("final_attn_in_proj", concat(thirds, 0));  // [3 D, D]
}

}  // namespace

void attention_layer(Run& r) {
  const int64_t h = r.integer("h");
  Random random(1);
  MultiheadAttention layer({.embed_dim = r.integer("d"), .num_heads = h}, random);
  load(r, "", layer);
  const auto [y, pattern, z] = layer.forward(r.in("x"), masking(r, true), r.maybe("memory"), r.maybe("gate"));
  r.y(y);
  r.out("weights", pattern);
  r.out("weights_mean_over_heads", mean(pattern, {1}));
  const Tensor rows = reshape(layer.out_proj.weight, {h, -1, y.dim(-1)});  // [h, d_h, D]
  r.out("head_contribution", matmul(z, rows));                             // [B, h, T, D]
}

// The first tokens at once, the others one by one, and all of them without a cache.
void cached_layer(Run& r) {
  const NoGrad no_grad;
  const Tensor x = r.in("x");  // [B, T, D]
  const int64_t T = r.integer("T"), h = r.integer("h"), d = r.integer("d");
  Random random(1);
  MultiheadAttention layer({.embed_dim = d, .num_heads = h}, random);
  load(r, "", layer);
  r.out("y_full", layer(x, {.is_causal = true}));
  KVCache cache(r.integer("B"), h, T, d / h);
  std::vector<Tensor> pieces = {layer.append_and_forward(slice(x, 1, 0, r.integer("prefill")), cache).out};
  while (cache.length() < T) {
    const int64_t t = cache.length();
    pieces.push_back(layer.append_and_forward(slice(x, 1, t, t + 1), cache).out);  // [B, 1, D]
  }
  r.out("y_cached", concat(pieces, 1));       // [B, T, D]
  r.out("cache_k", transpose(cache.keys()));  // [B, h, T, d_h]
  r.out("cache_v", cache.values());           // [B, h, T, d_h]
}

void bare_attention(Run& r) {
  const Attended attended = attention(r.in("q"), r.in("k"), r.in("v"));
  r.y(attended.z);
  r.out("weights", attended.pattern);
  r.out("wrong_scale_sqrt_d_model", attended.z);
  r.out("wrong_axis_weights", attended.pattern);
}

void split_and_merge(Run& r) {
  const Tensor heads = split_heads(r.in("x"), r.integer("h"));  // [B, h, T, d_h]
  r.out("split", heads);
  r.out("wrong_split_view_only", heads);
  r.out("merged", merge_heads(heads));
  r.out("wrong_merge_no_transpose", merge_heads(heads));
}

// Head k is multiplied by k + 1 on the way.
void split_scale_merge(Run& r) {
  r.y(merge_heads(split_heads(r.x(), 3) * Tensor::from({3, 1, 1}, {1, 2, 3})));
}

void encoder_layer(Run& r) {
  Random random(1);
  Block block(block_options(r), random);
  load(r, "", block);
  r.y(block(r.in("x"), masking(r, false)));
}

void language_model(Run& r) {
  const int64_t B = r.integer("B"), T = r.integer("T");
  const std::vector<int> tokens = r.integers.at("tokens");  // B rows of T + 1
  std::vector<int> inputs, targets;
  for (int64_t b = 0; b < B; b++) {
    const auto row = tokens.begin() + b * (T + 1);
    inputs.insert(inputs.end(), row, row + T);
    targets.insert(targets.end(), row + 1, row + T + 1);
  }
  const Transformer model = load_model(r);
  if (r.config.find("steps")) return train(r, model, inputs, targets);
  const Tensor logits = model(inputs, B, T);  // [B, T, V]
  r.out("logits", logits);
  r.out("loss", cross_entropy(logits, targets));
}

void linear(Run& r) {
  Random random(1);
  Linear layer(r.x(1).dim(1), r.x(1).dim(0), true, random);
  load(layer, r.x(1), r.x(2));
  r.y(layer(r.x()));
}

std::function<void()> sgd_step(const Run& r, const std::vector<Tensor>& parameters) {
  return [sgd = SGD(parameters, r.number("lr"), r.number("momentum"))]() mutable { sgd.step(); };
}

std::function<void()> adam_step(const Run& r, const std::vector<Tensor>& parameters) {
  Adam::Options options;
  options.lr = r.number("lr");
  options.beta1 = r.number("beta1");
  options.beta2 = r.number("beta2");
  options.eps = r.number("eps");
  options.weight_decay = r.number("weight_decay");
  return [adam = Adam(parameters, options)]() mutable { adam.step(); };
}

void optimise(Run& r) {
  const Tensor w = r.in("w0").requires_grad(), b = r.in("b0").requires_grad();
  const Tensor w_grads = r.in("grad_w_per_step"), b_grads = r.in("grad_b_per_step");  // [steps, ...]
  const std::function<void()> step = r.op() == "sgd" ? sgd_step(r, {w, b}) : adam_step(r, {w, b});
  std::vector<Tensor> w_steps, b_steps;
  for (int64_t t = 0; t < w_grads.dim(0); t++) {
    zero_grad({w, b});
    sum(w * slice(w_grads, 0, t, t + 1)).backward();  // leaves just this gradient in w
    sum(b * slice(b_grads, 0, t, t + 1)).backward();
    step();
    w_steps.push_back(copy(w));
    b_steps.push_back(copy(b));
  }
  r.out("w_per_step", stack(w_steps));
  r.out("b_per_step", stack(b_steps));
}

void clip(Run& r) {
  const Tensor g0 = r.in("g0"), g1 = r.in("g1");
  const Tensor p0 = Tensor::zeros(g0.shape()).requires_grad(), p1 = Tensor::zeros(g1.shape()).requires_grad();
  (sum(p0 * g0) + sum(p1 * g1)).backward();
  r.out("total_norm", Tensor::full({}, clip_grad_norm({p0, p1}, r.number("max_norm"))));
  r.out("g0", p0.grad());
  r.out("g1", p1.grad());
}

// Three backward calls without zero_grad: gradients add up.
void accumulate(Run& r) {
  const Tensor w = r.in("w").requires_grad();
  std::vector<Tensor> grads;
  for (int64_t k = 0; k < 3; k++) {
    sum(pow(matmul(slice(r.in("x"), 0, k, k + 1), transpose(w)), 2)).backward();
    grads.push_back(copy(w.grad()));
  }
  r.out("w_grad_after_each_backward", stack(grads));
}

}  // namespace conformance
