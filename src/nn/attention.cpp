#include "nn/attention.h"

#include <algorithm>
#include <cmath>

#include "nn/cache.h"

namespace headway {

namespace {

// "1, 2, 5 or 10": the head counts that divide n, at most the eight smallest up to 4096, and n.
std::string divisors(int64_t n) {
  std::vector<int64_t> all;
  for (int64_t i = 1; i <= std::min<int64_t>(n, 4096) && all.size() < 8; i++) {
    if (n % i == 0) all.push_back(i);
  }
  if (all.back() != n) all.push_back(n);
  std::string out;
  for (size_t i = 0; i < all.size(); i++) {
    out += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + std::to_string(all[i]);
  }
  return out;
}

// Refuses a head count that does not cut `width` into equal whole parts, before anything is allocated.
void refuse_bad_heads(const char* op, int64_t width, int64_t heads, const Tensor* x) {
  if (width < 1) {
    Message message(text(op, ": embed_dim ", width, " leaves no number for a head"));
    if (x) add_tensor(message, "x", *x);
    throw ShapeError(message.rule("embed_dim is at least 1, and a multiple of num_heads"));
  }
  if (heads >= 1 && width % heads == 0) return;
  std::string asked;
  if (heads < 1)
    asked = text(op, ": num_heads ", heads, " is not at least 1");
  else if (heads > width)
    asked = text(op, ": num_heads ", heads, " is more than embed_dim ", width);
  else {
    asked = text(op, ": embed_dim ", width, " is not divisible by num_heads ", heads, " (", width, " = ",
                 heads, " * ", width / heads, " + ", width % heads, ")");
  }
  Message message(asked);
  if (x) add_tensor(message, "x", *x);
  message.rule("head_dim = embed_dim / num_heads must be a whole number");
  const std::string use =
      text("with embed_dim ", width, " use ", divisors(width), width == 1 ? " head" : " heads");
  if (heads < 1 || heads > width) throw ShapeError(message.hint(use));
  throw ShapeError(message.hint(
      text(use, ", or make embed_dim ", width / heads * heads, " or ", (width / heads + 1) * heads)));
}

void expect_heads(const char* op, const char* role, const Tensor& t) {
  if (t.rank() == 4) return;
  throw ShapeError(Message(text(op, ": ", role, " has ", t.rank(), " axes, not 4"))
                       .tensor(role, t.name(), t.shape())
                       .rule("with heads a tensor is [B, h, T, d_h]")
                       .hint("split_heads makes it from [B, T, D]"));
}

}  // namespace

Tensor split_heads(const Tensor& x, int64_t num_heads) {
  if (x.rank() != 3) {
    throw ShapeError(Message(text("split_heads: x has ", x.rank(), " axes, not 3"))
                         .tensor("x", x.name(), x.shape())
                         .rule("before the split a tensor is [B, T, D]"));
  }
  const int64_t B = x.dim(0), T = x.dim(1), D = x.dim(2), h = num_heads;
  refuse_bad_heads("split_heads", D, h, &x);
  const Tensor cut = reshape(x, {B, T, h, D / h});  // [B, T, h, d_h]
  return permute(cut, {0, 2, 1, 3});                // [B, h, T, d_h]
}

Tensor merge_heads(const Tensor& z) {
  expect_heads("merge_heads", "z", z);
  const int64_t B = z.dim(0), h = z.dim(1), T = z.dim(2), d_h = z.dim(3);
  const Tensor side_by_side = permute(z, {0, 2, 1, 3});  // [B, T, h, d_h]
  return reshape(side_by_side, {B, T, h * d_h});         // [B, T, D]
}

namespace {

// k must go with q, and v with k.
void expect_qkv_fit(const Tensor& q, const Tensor& k, const Tensor& v) {
  expect_heads("attention", "q", q);
  expect_heads("attention", "k", k);
  expect_heads("attention", "v", v);
  std::string wrong;
  if (q.dim(0) != k.dim(0) || q.dim(1) != k.dim(1)) {
    wrong = text("q has ", q.dim(0), " items of ", q.dim(1), " heads, k has ", k.dim(0), " of ", k.dim(1));
  } else if (q.dim(3) != k.dim(3)) {
    wrong = text("q has head_dim ", q.dim(3), ", k has ", k.dim(3));
  } else if (k.dim(0) != v.dim(0) || k.dim(1) != v.dim(1) || k.dim(2) != v.dim(2)) {
    wrong = text("k is ", to_text({k.dim(0), k.dim(1), k.dim(2)}), " on its first three axes, v is ",
                 to_text({v.dim(0), v.dim(1), v.dim(2)}));
  }
  if (wrong.empty() && q.dim(3) < 1) wrong = "q and k have head_dim 0, and a score needs 1 or more";
  if (wrong.empty()) return;
  throw ShapeError(Message("attention: " + wrong)
                       .tensor("q", q.name(), q.shape())
                       .tensor("k", k.name(), k.shape())
                       .tensor("v", v.name(), v.shape())
                       .rule("q [B, h, T, d_h], k [B, h, S, d_h], v [B, h, S, d_v]"));
}

// The allowed keys of `masking` taken together; nothing if all keys are.
std::optional<Allow> allowed(const Masking& masking, const Tensor& scores) {
  const int64_t T = scores.dim(2), S = scores.dim(3);
  if (masking.allow) expect_mask_fits("attention", "Allow", masking.allow->shape(), scores);
  if (masking.bias) expect_mask_fits("attention", "Bias", masking.bias->values.shape(), scores);
  if (!masking.is_causal && masking.past) {
    throw ValueError(Message(text("attention: past ", *masking.past, " is given, but is_causal is not"))
                         .rule("past says where a causal mask begins; without one it means nothing")
                         .hint("set is_causal, or leave past out"));
  }
  if (!masking.is_causal) return masking.allow;
  if (T != S && !masking.past) {
    const std::string cached =
        S > T ? text("after a cache of ", S - T, " keys it is past = ", S - T, "; ") : "";
    throw ValueError(
        Message(text("attention: is_causal with ", T, " queries and ", S, " keys needs to know the past"))
            .rule("query t sees keys 0 .. past + t, where past counts the keys before the first query")
            .hint(text(cached, "with nothing before it is past = 0")));
  }
  const Allow causal = Allow::causal(T, S, masking.past.value_or(0));
  return masking.allow ? *masking.allow & causal : causal;
}

}  // namespace

Attended attention(const Tensor& q, const Tensor& k, const Tensor& v, const Masking& masking,
                   std::optional<Scalar> factor) {
  expect_qkv_fit(q, k, v);
  const Scalar d_h = Scalar(q.dim(3));

  const Tensor products = matmul(q, transpose(k));                             // [B, h, T, S]
  const Tensor scores = scale(products, factor.value_or(1 / std::sqrt(d_h)));  // [B, h, T, S]
  const std::optional<Allow> allow = allowed(masking, scores);
  const Tensor biased = masking.bias ? add(scores, *masking.bias) : scores;  // [B, h, T, S]
  const Tensor pattern =
      allow ? softmax(biased, *allow) : softmax(biased);  // [B, h, T, S], each row sums to 1
  const Tensor z = matmul(pattern, v);                    // [B, h, T, d_v]
  return {scores, pattern, z};
}

namespace {
int64_t checked_head_dim(const MultiheadAttention::Options& o) {
  if (o.embed_dim < 1 || o.head_dim < 0) {
    throw ShapeError(
        Message(text("MultiheadAttention: embed_dim ", o.embed_dim, " and head_dim ", o.head_dim,
                     " do not make a layer"))
            .rule("embed_dim is at least 1; head_dim is at least 1, or 0 for embed_dim / num_heads"));
  }
  if (o.head_dim > 0 && o.num_heads > 0) return o.head_dim;
  refuse_bad_heads("MultiheadAttention", o.embed_dim, o.num_heads, nullptr);
  return o.embed_dim / o.num_heads;
}
}  // namespace

MultiheadAttention::MultiheadAttention(const Options& o, Random& random)
    : num_heads(o.num_heads), q_proj(o.embed_dim, o.num_heads * checked_head_dim(o), o.bias, random),
      k_proj(o.embed_dim, o.num_heads * checked_head_dim(o), o.bias, random),
      v_proj(o.embed_dim, o.num_heads * checked_head_dim(o), o.bias, random),
      out_proj(o.num_heads * checked_head_dim(o), o.embed_dim, o.bias, random) {
  name_tensors(parameters());
}

MultiheadAttention::Output MultiheadAttention::forward(const Tensor& x, const Masking& masking,
                                                       const Tensor& memory, const Tensor& gate) const {
  const int64_t h = num_heads;
  const Tensor& source = memory.defined() ? memory : x;  // [B, S, D]
  const Tensor q = split(q_proj(x), h);                  // [B, h, T, d_h]
  const Tensor k = split(k_proj(source), h);             // [B, h, S, d_h]
  const Tensor v = split(v_proj(source), h);             // [B, h, S, d_h]

  const Attended attended = attention(q, k, v, masking);
  Tensor z = attended.z;  // [B, h, T, d_h]
  if (gate.defined()) {
    expect_shape(gate, "gate", {h});
    z = z * reshape(gate, {h, 1, 1});  // [B, h, T, d_h]
  }
  return {out_proj(merge(z)), attended.pattern, z};  // [B, T, D]
}

MultiheadAttention::Output MultiheadAttention::forward(const Tensor& x, KVCache& cache) const {
  const int64_t h = num_heads;
  const Tensor q = split(q_proj(x), h);  // [B, h, T, d_h]
  const Tensor k = split(k_proj(x), h);  // [B, h, T, d_h]
  const Tensor v = split(v_proj(x), h);  // [B, h, T, d_h]

  const Attended attended = attention(q, k, v, cache);
  return {out_proj(merge(attended.z)), attended.pattern, attended.z};  // [B, T, D]
}

Parameters MultiheadAttention::parameters() const {
  Parameters p;
  append(p, "q_proj", q_proj.parameters());
  append(p, "k_proj", k_proj.parameters());
  append(p, "v_proj", v_proj.parameters());
  append(p, "out_proj", out_proj.parameters());
  return p;
}

}  // namespace headway
