#include "nn/attention.h"

#include <cmath>

#include "nn/attention_checks.h"
#include "nn/cache.h"

namespace headway {

Tensor split_heads(const Tensor& x, int64_t num_heads) {
  check_split(x, num_heads);
  const int64_t B = x.dim(0), T = x.dim(1), D = x.dim(2), h = num_heads;
  const Tensor cut = reshape(x, {B, T, h, D / h});  // [B, T, h, d_h]
  return permute(cut, {0, 2, 1, 3});                // [B, h, T, d_h]
}

Tensor merge_heads(const Tensor& z) {
  check_heads("merge_heads", "z", z);
  const int64_t B = z.dim(0), h = z.dim(1), T = z.dim(2), d_h = z.dim(3);
  const Tensor side_by_side = permute(z, {0, 2, 1, 3});  // [B, T, h, d_h]
  return reshape(side_by_side, {B, T, h * d_h});         // [B, T, D]
}

Attended attention(const Tensor& q, const Tensor& k, const Tensor& v, const Masking& masking,
                   std::optional<Scalar> factor) {
  check_qkv(q, k, v);
  const Scalar d_h = Scalar(q.dim(3));

  const Tensor products = matmul(q, transpose(k));                             // [B, h, T, S]
  const Tensor scores = scale(products, factor.value_or(1 / std::sqrt(d_h)));  // [B, h, T, S]
  const std::optional<Allow> allow = allowed(masking, scores);
  const Tensor biased = masking.bias ? add(scores, *masking.bias) : scores;  // [B, h, T, S]
  const Tensor pattern = allow ? softmax(biased, *allow) : softmax(biased);  // [B, h, T, S], rows sum to 1
  const Tensor z = matmul(pattern, v);                                       // [B, h, T, d_v]
  return {scores, pattern, z};
}

Tensor gate_heads(const Tensor& z, const Tensor& gate) {
  if (!gate.defined()) return z;
  const int64_t h = z.dim(1);
  expect_shape(gate, "gate", {h});
  return z * reshape(gate, {h, 1, 1});  // [B, h, T, d_h]
}

MultiheadAttention::MultiheadAttention(const Options& o, Random& random)
    : num_heads(o.num_heads), head_dim(check_head_dim(o.embed_dim, o.num_heads, o.head_dim)),
      q_proj(o.embed_dim, num_heads * head_dim, o.bias, random),
      k_proj(o.embed_dim, num_heads * head_dim, o.bias, random),
      v_proj(o.embed_dim, num_heads * head_dim, o.bias, random),
      out_proj(num_heads * head_dim, o.embed_dim, o.bias, random) {
  name_tensors(parameters());
}

Heads MultiheadAttention::project_and_split(const Tensor& x, const Tensor& source) const {
  const Tensor q = split(q_proj(x), num_heads);       // [B, h, T, d_h]
  const Tensor k = split(k_proj(source), num_heads);  // [B, h, S, d_h]
  const Tensor v = split(v_proj(source), num_heads);  // [B, h, S, d_h]
  return {q, k, v};
}

MultiheadAttention::Output MultiheadAttention::merge_and_project(const Attended& attended,
                                                                 const Tensor& gate) const {
  const Tensor z = gate_heads(attended.z, gate);     // [B, h, T, d_h]
  return {out_proj(merge(z)), attended.pattern, z};  // [B, T, D]
}

MultiheadAttention::Output MultiheadAttention::forward(const Tensor& x, const Masking& masking,
                                                       const Tensor& memory, const Tensor& gate) const {
  const auto [q, k, v] = project_and_split(x, memory.defined() ? memory : x);
  return merge_and_project(attention(q, k, v, masking), gate);
}

MultiheadAttention::Output MultiheadAttention::append_and_forward(const Tensor& x, KVCache& cache) const {
  const auto [q, k, v] = project_and_split(x, x);
  return merge_and_project(append_and_attend(q, k, v, cache));
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
