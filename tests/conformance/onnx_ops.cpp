// The ONNX operators the project has.
#include <algorithm>
#include <limits>

#include "nn/attention.h"
#include "onnx_call.h"

namespace conformance {
namespace {

// A mask lacks leading axes, or not; scores have four. Keys beyond its end are blocked.
void add_mask(Masking& masking, const Value& mask, int64_t S) {
  Shape shape = mask.tensor.shape();
  while (shape.size() < 4) shape.insert(shape.begin(), 1);
  const int64_t length = shape[3];
  Tensor values = reshape(mask.tensor, shape);  // [B, h, T, length]
  if (mask.is_float) {
    Shape rest = shape;
    rest[3] = S - length;
    masking.bias = Bias{concat({values, Tensor::zeros(rest)}, 3)};  // [B, h, T, S]
    if (length < S) masking.allow = Allow::lengths(std::vector<int>{int(length)}, S);
    return;
  }
  std::vector<unsigned char> flags;
  for (size_t i = 0; i < mask.ints.size(); i++) {
    flags.push_back(mask.ints[i] != 0);
    if (int64_t(i + 1) % length == 0) flags.insert(flags.end(), size_t(S - length), 0);
  }
  shape[3] = S;
  masking.allow = Allow(shape, flags);
}

// Item b has lengths[b] keys; its T queries are the last of them.
Allow nonpad(const std::vector<int64_t>& lengths, int64_t T, int64_t S, bool is_causal) {
  std::vector<unsigned char> flags;
  for (int64_t length : lengths) {
    for (int64_t t = 0; t < T; t++) {
      for (int64_t s = 0; s < S; s++) flags.push_back(s < length && (!is_causal || s <= t + length - T));
    }
  }
  return Allow({int64_t(lengths.size()), 1, T, S}, flags);
}

// The mask as a term of a sum: 0 where allowed, -inf elsewhere.
Tensor as_term(const Allow& allow) {
  std::vector<Scalar> values;
  const Scalar infinity = std::numeric_limits<Scalar>::infinity();
  for (unsigned char flag : allow.flags()) values.push_back(flag ? 0 : -infinity);
  return Tensor::from(allow.shape(), values);
}

void attention_op(Call& c) {
  const bool flat = c.x().rank() == 3;                                             // [B, T, h d_h]
  const Tensor q = flat ? split_heads(c.x(0), c.integer("q_num_heads")) : c.x(0);  // [B, h, T, d_h]
  Tensor k = flat ? split_heads(c.x(1), c.integer("kv_num_heads")) : c.x(1);       // [B, h, S, d_h]
  Tensor v = flat ? split_heads(c.x(2), c.integer("kv_num_heads")) : c.x(2);       // [B, h, S, d_v]
  const int64_t past = c.has(4) ? c.x(4).dim(2) : 0;
  if (c.has(4)) {
    k = concat(std::vector<Tensor>{c.x(4), k}, 2);  // [B, h, S, d_h]
    v = concat(std::vector<Tensor>{c.x(5), v}, 2);  // [B, h, S, d_v]
  }
  const int64_t T = q.dim(2), S = k.dim(2);
  Masking masking;
  if (c.has(3)) add_mask(masking, c.in[3], S);
  masking.is_causal = c.integer("is_causal") != 0 && !c.has(6);
  if (masking.is_causal) masking.past = past;
  if (c.has(6)) {
    const Allow keys = nonpad(c.in[6].ints, T, S, c.integer("is_causal") != 0);
    masking.allow = masking.allow ? *masking.allow & keys : keys;
  }
  std::optional<Scalar> factor;
  if (c.attributes.find("scale")) factor = c.number("scale", 1);

  const Attended attended = attention(q, k, v, masking, factor);
  const int64_t mode = c.integer("qk_matmul_output_mode");
  Tensor scores = attended.scores;
  if (mode == 2 && masking.bias) scores = scores + masking.bias->values;
  if (mode == 2 && masking.allow) scores = scores + as_term(*masking.allow);
  if (mode == 2 && masking.is_causal) scores = scores + as_term(Allow::causal(T, S, past));
  c.out = {flat ? merge_heads(attended.z) : attended.z, k, v, mode == 3 ? attended.pattern : scores};
}

void layer_normalization(Call& c) {
  const Tensor x = c.x();
  const int axis = axis_index("LayerNormalization", int(c.integer("axis", -1)), x);
  std::vector<int> axes;
  int64_t width = 1;  // of all axes from `axis` on, taken as one
  for (int i = axis; i < x.rank(); i++) {
    axes.push_back(i);
    width *= x.dim(i);
  }
  const Scalar eps = c.number("epsilon", 1e-5);
  const Tensor bias = c.has(2) ? reshape(c.x(2), {width}) : Tensor::zeros({width});
  const Tensor y = layernorm(reshape(x, {-1, width}), reshape(c.x(1), {width}), bias, eps);
  const Tensor average = mean(x, axes, true);
  const Tensor difference = x - average;
  const Tensor variance = mean(difference * difference, axes, true);
  c.out = {reshape(y, x.shape()), average, Tensor::full({}, 1) / sqrt(variance + Tensor::full({}, eps))};
}

// Classes on axis 1: x [N, C, d1, ...], labels [N, d1, ...].
void cross_entropy_loss(Call& c) {
  const Tensor logits = move_axis(c.x(), 1, -1);
  const std::string reduction = c.word("reduction", "mean");
  CrossEntropy options{.ignore_index = int(c.integer("ignore_index", -100))};
  if (reduction == "none") options.reduction = Reduction::none;
  if (reduction == "sum") options.reduction = Reduction::sum;
  const std::vector<int> labels(c.in.at(1).ints.begin(), c.in.at(1).ints.end());
  c.out = {cross_entropy(logits, labels, options), move_axis(log_softmax(logits), -1, 1)};
}

void gemm(Call& c) {
  const Tensor a = c.integer("transA") ? transpose(c.x(0)) : c.x(0);  // [M, K]
  const Tensor b = c.integer("transB") ? transpose(c.x(1)) : c.x(1);  // [K, N]
  const Tensor y = scale(matmul(a, b), c.number("alpha", 1));         // [M, N]
  c.out = {c.has(2) ? y + scale(c.x(2), c.number("beta", 1)) : y};
}

void reduce(Call& c, Tensor (*op)(const Tensor&, const std::vector<int>&, bool)) {
  const std::vector<int64_t> list = c.list(1, "axes");
  std::vector<int> axes(list.begin(), list.end());
  if (axes.empty() && c.integer("noop_with_empty_axes")) {
    c.out = {reshape(c.x(), c.x().shape())};
    return;
  }
  for (int i = 0; list.empty() && i < c.x().rank(); i++) axes.push_back(i);
  c.out = {op(c.x(), axes, c.integer("keepdims", 1) != 0)};
}

// In the new shape 0 means "as before", unless allowzero is set.
void reshape_op(Call& c) {
  Shape shape = c.list(1, "shape");
  for (size_t i = 0; i < shape.size(); i++) {
    if (shape[i] == 0 && !c.integer("allowzero")) shape[i] = c.x().dim(int(i));
  }
  c.out = {reshape(c.x(), shape)};
}

void transpose_op(Call& c) {
  const std::vector<int64_t> perm = c.list(1, "perm");
  std::vector<int> axes(perm.begin(), perm.end());
  for (int i = c.x().rank(); perm.empty() && i-- > 0;) axes.push_back(i);
  c.out = {permute(c.x(), axes)};
}

// Lengths are given, or all are equal and the last is shorter where they do not fit.
void split_op(Call& c) {
  const int axis = int(c.integer("axis"));
  const int64_t size = c.x().dim(axis), parts = int64_t(c.out.size());
  std::vector<int64_t> lengths = c.list(1, "split");
  if (lengths.empty()) lengths.assign(size_t(parts), (size + parts - 1) / parts);
  int64_t start = 0;
  for (size_t i = 0; i < c.out.size(); i++) {
    const int64_t stop = std::min(size, start + lengths.at(i));
    c.out[i] = slice(c.x(), axis, start, stop);
    start = stop;
  }
}

void concat_op(Call& c) {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < c.in.size(); i++) parts.push_back(c.x(i));
  c.out = {concat(parts, int(c.integer("axis")))};
}

void along_axis(Call& c, Tensor (*op)(const Tensor&)) {
  const int axis = int(c.integer("axis", -1));
  c.out = {move_axis(op(move_axis(c.x(), axis, -1)), -1, axis)};
}

void gelu(Call& c) { c.out = {c.word("approximate", "none") == "tanh" ? gelu_tanh(c.x()) : gelu_erf(c.x())}; }

void dropout_op(Call& c) {
  Random random(1);
  c.out = {dropout(c.x(), 0, random)};
}

struct Entry {
  const char* op;
  void (*run)(Call&);
};

const Entry table[] = {
    {"Add", [](Call& c) { c.out = {c.x(0) + c.x(1)}; }},
    {"Sub", [](Call& c) { c.out = {c.x(0) - c.x(1)}; }},
    {"Mul", [](Call& c) { c.out = {c.x(0) * c.x(1)}; }},
    {"Div", [](Call& c) { c.out = {c.x(0) / c.x(1)}; }},
    {"Pow", [](Call& c) { c.out = {pow(c.x(0), c.x(1).item())}; }},
    {"Neg", [](Call& c) { c.out = {neg(c.x())}; }},
    {"Exp", [](Call& c) { c.out = {exp(c.x())}; }},
    {"Log", [](Call& c) { c.out = {log(c.x())}; }},
    {"Sqrt", [](Call& c) { c.out = {sqrt(c.x())}; }},
    {"Tanh", [](Call& c) { c.out = {tanh(c.x())}; }},
    {"Sigmoid", [](Call& c) { c.out = {sigmoid(c.x())}; }},
    {"Relu", [](Call& c) { c.out = {relu(c.x())}; }},
    {"MatMul", [](Call& c) { c.out = {matmul(c.x(0), c.x(1))}; }},
    {"ReduceSum", [](Call& c) { reduce(c, sum); }},
    {"ReduceMean", [](Call& c) { reduce(c, mean); }},
    {"Softmax", [](Call& c) { along_axis(c, softmax); }},
    {"LogSoftmax", [](Call& c) { along_axis(c, log_softmax); }},
    {"Gelu", gelu},
    {"Gemm", gemm},
    {"Reshape", reshape_op},
    {"Transpose", transpose_op},
    {"Split", split_op},
    {"Concat", concat_op},
    {"Dropout", dropout_op},
    {"LayerNormalization", layer_normalization},
    {"SoftmaxCrossEntropyLoss", cross_entropy_loss},
    {"Attention", attention_op},
};

}  // namespace

void run_operator(const std::string& op, Call& call) {
  for (const Entry& entry : table) {
    if (entry.op == op) entry.run(call);
  }
}

}  // namespace conformance
