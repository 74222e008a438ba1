// What people really write for exercise 09-project. The check knows them all, and says which one it was.
#include <cmath>

#include "course/candidate.h"

using namespace headway;

namespace {

using Addend = Tensor (*)(const Tensor& z, const Tensor& W_O, int64_t head);
using Project = Tensor (*)(const Tensor& z, const Tensor& W_O, const Tensor& b_O);
using Attend = Tensor (*)(const Tensor& q, const Tensor& k, const Tensor& v);
using Layer = Tensor (*)(const Tensor& x, const Tensor& W_Q, const Tensor& W_K, const Tensor& W_V,
                         const Tensor& W_O, const Tensor& b_O, int64_t h);

Tensor of_head(const Tensor& z, int64_t i) {
  return reshape(slice(z, 1, i, i + 1), {z.dim(0), z.dim(2), -1});  // [B, T, d_h]
}

Tensor rows_of(const Tensor& W_O, int64_t i, int64_t d_h) {
  return slice(W_O, 0, i * d_h, (i + 1) * d_h);  // [d_h, D]
}

Tensor right_addend(const Tensor& z, const Tensor& W_O, int64_t i) {
  return matmul(of_head(z, i), rows_of(W_O, i, z.dim(3)));  // [B, T, D]
}

Tensor merge(const Tensor& z) {
  return reshape(permute(z, {0, 2, 1, 3}), {z.dim(0), z.dim(2), -1});  // [B, T, h d_h]
}

Tensor right_project(const Tensor& z, const Tensor& W_O, const Tensor& b_O) {
  return matmul(merge(z), W_O) + b_O;  // [B, T, D]
}

Tensor heads_of(const Tensor& x, const Tensor& W, int64_t h) {
  return permute(reshape(matmul(x, W), {x.dim(0), x.dim(1), h, -1}), {0, 2, 1, 3});  // [B, h, T, d_h]
}

// Scores divided by the root of `width`, and causal.
Tensor attend_with(int64_t width, const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor scores = scale(matmul(q, transpose(k)), Scalar(1 / std::sqrt(double(width))));  // [B, h, T, T]
  return matmul(softmax(scores, Allow::causal(q.dim(2), k.dim(2), 0)), v);  // [B, h, T, d_h]
}

Tensor right_attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  return attend_with(q.dim(3), q, k, v);  // [B, h, T, d_h]
}

template <Attend attend, Project project>
Tensor layer(const Tensor& x, const Tensor& W_Q, const Tensor& W_K, const Tensor& W_V, const Tensor& W_O,
             const Tensor& b_O, int64_t h) {
  const Tensor q = heads_of(x, W_Q, h), k = heads_of(x, W_K, h), v = heads_of(x, W_V, h);  // [B, h, T, d_h]
  return project(attend(q, k, v), W_O, b_O);                                               // [B, T, D]
}

template <Addend addend>
Tensor sum_of(const Tensor& z, const Tensor& W_O, const Tensor& b_O) {
  Tensor total = b_O;                                                        // [D]
  for (int64_t i = 0; i < z.dim(1); i++) total = total + addend(z, W_O, i);  // [B, T, D]
  return total;
}

// All three functions, where one of them is wrong, and what is built on it.
std::vector<Function> with(Layer self_attention, Project project = right_project,
                           Addend addend = right_addend) {
  return {{"addend", addend}, {"project", project}, {"self_attention", self_attention}};
}
template <Addend addend>
std::vector<Function> with_addend() {
  return with(layer<right_attend, sum_of<addend>>, sum_of<addend>, addend);
}
template <Project project>
std::vector<Function> with_project() {
  return with(layer<right_attend, project>, project);
}
template <Attend attend>
std::vector<Function> with_attend() {
  return with(layer<attend, right_project>);
}

// What one head adds.

namespace transposed {
Tensor addend(const Tensor& z, const Tensor& W_O, int64_t i) { return right_addend(z, transpose(W_O), i); }
const Candidate
    candidate("transposed", with_addend<addend>(),
              "W_O was transposed, so columns serve as rows. PyTorch keeps a weight as [out, in]; "
              "here W_O is [h d_h, D], and head i has its rows i d_h to (i + 1) d_h - 1.");
}  // namespace transposed

namespace first_rows {
Tensor addend(const Tensor& z, const Tensor& W_O, int64_t i) {
  return matmul(of_head(z, i), rows_of(W_O, 0, z.dim(3)));  // [B, T, D]
}
const Candidate candidate("first_rows", with_addend<addend>(),
                          "every head went through the first d_h rows of W_O. They belong to head 0; each "
                          "head has d_h rows of its own.");
}  // namespace first_rows

namespace rows_from_i {
Tensor addend(const Tensor& z, const Tensor& W_O, int64_t i) {
  return matmul(of_head(z, i), slice(W_O, 0, i, i + z.dim(3)));  // [B, T, D]
}
const Candidate candidate("rows_from_i", with_addend<addend>(),
                          "the rows of head i were taken from row i on, so neighbours share some. They begin "
                          "at row i d_h.");
}  // namespace rows_from_i

namespace rows_dealt_out {
Tensor addend(const Tensor& z, const Tensor& W_O, int64_t i) {
  const Tensor dealt = reshape(W_O, {z.dim(3), z.dim(1), -1});                       // [d_h, h, D]
  return matmul(of_head(z, i), reshape(slice(dealt, 1, i, i + 1), {z.dim(3), -1}));  // [B, T, D]
}
const Candidate candidate("rows_dealt_out", with_addend<addend>(),
                          "W_O was dealt out like cards, every h-th row to the same head. The d_h rows of a "
                          "head are neighbours, as its numbers are after the merge.");
}  // namespace rows_dealt_out

namespace heads_reversed {
Tensor addend(const Tensor& z, const Tensor& W_O, int64_t i) {
  return matmul(of_head(z, i), rows_of(W_O, z.dim(1) - 1 - i, z.dim(3)));  // [B, T, D]
}
const Candidate candidate("heads_reversed", with_addend<addend>(),
                          "the heads meet the rows of W_O in reverse order. The first d_h rows belong to "
                          "head 0, the last to head h - 1.");
}  // namespace heads_reversed

namespace side_by_side {
Tensor addend(const Tensor& z, const Tensor& W_O, int64_t i) {
  const int64_t D = W_O.dim(1), start = D / z.dim(1) * i, stop = D / z.dim(1) * (i + 1);
  const Tensor all = right_addend(z, W_O, i);  // [B, T, D]
  return concat(
      {scale(slice(all, 2, 0, start), 0), slice(all, 2, start, stop), scale(slice(all, 2, stop, D), 0)},
      2);  // [B, T, D]
}
const Candidate candidate("side_by_side", with_addend<addend>(),
                          "each head has a small W_O of its own here, and the results stand side by side, so "
                          "head i writes only into slice i. Its rows of W_O reach over all D columns.");
}  // namespace side_by_side

namespace merged_by_reshape {
Tensor addend(const Tensor& z, const Tensor& W_O, int64_t i) {
  const Tensor merged = reshape(z, {z.dim(0), z.dim(2), -1});  // [B, T, h d_h] by its shape
  return matmul(slice(merged, 2, i * z.dim(3), (i + 1) * z.dim(3)), rows_of(W_O, i, z.dim(3)));  // [B, T, D]
}
const Candidate candidate("merged_by_reshape", with_addend<addend>(),
                          "z was brought to [B, T, ..] by a reshape alone, so tokens and heads are mixed up. "
                          "Move the tokens before the heads first, or take one head of z at a time.");
}  // namespace merged_by_reshape

namespace all_heads_at_once {
Tensor addend(const Tensor& z, const Tensor& W_O, int64_t) { return matmul(merge(z), W_O); }
const Candidate candidate("all_heads_at_once",
                          with(layer<right_attend, right_project>, right_project, addend),
                          "this is what all heads add together. One head adds its own z times its own d_h "
                          "rows of W_O.");
}  // namespace all_heads_at_once

// All heads.

namespace out_proj_left_out {
Tensor project(const Tensor& z, const Tensor&, const Tensor&) { return merge(z); }
const Candidate candidate("out_proj_left_out", with_project<project>(),
                          "the merged heads come out as they are: the output projection is missing. They go "
                          "through W_O, and b_O is added.");
}  // namespace out_proj_left_out

namespace bias_alone {
Tensor project(const Tensor& z, const Tensor&, const Tensor& b_O) { return merge(z) + b_O; }
const Candidate candidate("bias_alone", with_project<project>(),
                          "b_O was added to the merged heads, but W_O is missing: no number of one head has "
                          "met a number of another.");
}  // namespace bias_alone

namespace bias_left_out {
Tensor project(const Tensor& z, const Tensor& W_O, const Tensor&) { return matmul(merge(z), W_O); }
const Candidate candidate("bias_left_out", with_project<project>(),
                          "b_O is missing. It belongs to no head, and is added once, to the sum of all.");
}  // namespace bias_left_out

namespace bias_per_head {
Tensor project(const Tensor& z, const Tensor& W_O, const Tensor& b_O) {
  return matmul(merge(z), W_O) + scale(b_O, Scalar(z.dim(1)));  // [B, T, D]
}
const Candidate
    candidate("bias_per_head", with_project<project>(),
              "b_O was added with every head, h times in all. It belongs to no head: add it once.");
}  // namespace bias_per_head

namespace heads_averaged {
Tensor project(const Tensor& z, const Tensor& W_O, const Tensor& b_O) {
  return matmul(mean(z, {1}), rows_of(W_O, 0, z.dim(3))) + b_O;  // [B, T, D]
}
const Candidate candidate("heads_averaged", with_project<project>(),
                          "the heads were averaged before W_O, and what each of them said is lost. Each goes "
                          "through its own rows first; then they are added.");
}  // namespace heads_averaged

namespace sum_divided {
Tensor project(const Tensor& z, const Tensor& W_O, const Tensor& b_O) {
  return scale(matmul(merge(z), W_O), 1 / Scalar(z.dim(1))) + b_O;  // [B, T, D]
}
const Candidate candidate("sum_divided", with_project<project>(),
                          "the mean of what the heads add, instead of their sum: it was divided by h.");
}  // namespace sum_divided

namespace last_head_alone {
Tensor project(const Tensor& z, const Tensor& W_O, const Tensor& b_O) {
  return right_addend(z, W_O, z.dim(1) - 1) + b_O;  // [B, T, D]
}
const Candidate candidate("last_head_alone", with_project<project>(),
                          "only the last head is left. A loop that assigns forgets what came before: it must "
                          "add to the total.");
}  // namespace last_head_alone

// The layer.

namespace not_causal {
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  return matmul(softmax(scale(matmul(q, transpose(k)), 1 / std::sqrt(Scalar(q.dim(3))))),
                v);  // [B, h, T, d_h]
}
const Candidate candidate("not_causal", with_attend<attend>(),
                          "the mask is missing: a token sees later ones too. Token t may attend to tokens 0 "
                          "to t, which Allow::causal says to softmax.");
}  // namespace not_causal

namespace softmax_over_queries {
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  const int64_t T = q.dim(2);
  std::vector<unsigned char> flags;  // row s, column t: whether query t may attend to key s
  for (int64_t i = 0; i < T * T; i++) flags.push_back(i % T >= i / T);
  const Tensor turned = scale(matmul(k, transpose(q)), 1 / std::sqrt(Scalar(q.dim(3))));  // [B, h, T, T]
  return matmul(transpose(softmax(turned, Allow({T, T}, flags))), v);                     // [B, h, T, d_h]
}
const Candidate candidate("softmax_over_queries", with_attend<attend>(),
                          "the softmax ran over the queries: the columns of the pattern sum to 1. A query "
                          "shares its weight among the keys, so each row must sum to 1.");
}  // namespace softmax_over_queries

namespace split_by_reshape {
Tensor heads(const Tensor& x, const Tensor& W, int64_t h) {
  return reshape(matmul(x, W), {x.dim(0), h, x.dim(1), -1});  // [B, h, T, d_h] by its shape
}
Tensor self_attention(const Tensor& x, const Tensor& W_Q, const Tensor& W_K, const Tensor& W_V,
                      const Tensor& W_O, const Tensor& b_O, int64_t h) {
  const Tensor z = right_attend(heads(x, W_Q, h), heads(x, W_K, h), heads(x, W_V, h));  // [B, h, T, d_h]
  return right_project(z, W_O, b_O);                                                    // [B, T, D]
}
const Candidate candidate("split_by_reshape", with(self_attention),
                          "q, k and v were split by a reshape alone, so head 0 has all pieces of the first "
                          "tokens. Cut each token with reshape, then move the heads before the tokens.");
}  // namespace split_by_reshape

namespace scale_by_stream {
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  return attend_with(q.dim(1) * q.dim(3), q, k, v);  // [B, h, T, d_h]
}
const Candidate candidate("scale_by_stream", with_attend<attend>(),
                          "the scores were divided by the root of the whole width, as for one big head. A "
                          "score adds up d_h products: divide by sqrt(d_h).");
}  // namespace scale_by_stream

namespace no_scale {
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) { return attend_with(1, q, k, v); }
const Candidate candidate("no_scale", with_attend<attend>(),
                          "the scores were not scaled: divide them by sqrt(d_h) before the softmax.");
}  // namespace no_scale

namespace q_and_k_exchanged {
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) { return right_attend(k, q, v); }
const Candidate
    candidate("q_and_k_exchanged", with_attend<attend>(),
              "q and k have changed places. Scores are q k^T: row t belongs to the query of token t.");
}  // namespace q_and_k_exchanged

namespace values_are_keys {
Tensor attend(const Tensor& q, const Tensor& k, const Tensor&) { return right_attend(q, k, k); }
const Candidate candidate("values_are_keys", with_attend<attend>(),
                          "the values were made with W_K. What a token says comes from W_V.");
}  // namespace values_are_keys

namespace one_wide_head {
Tensor self_attention(const Tensor& x, const Tensor& W_Q, const Tensor& W_K, const Tensor& W_V,
                      const Tensor& W_O, const Tensor& b_O, int64_t) {
  return layer<right_attend, right_project>(x, W_Q, W_K, W_V, W_O, b_O, 1);  // [B, T, D]
}
const Candidate candidate("one_wide_head", with(self_attention),
                          "q, k and v were not split: this is one head of the whole width, with one pattern "
                          "where num_heads patterns should be.");
}  // namespace one_wide_head

namespace width_from_stream {
Tensor self_attention(const Tensor& x, const Tensor& W_Q, const Tensor& W_K, const Tensor& W_V,
                      const Tensor& W_O, const Tensor& b_O, int64_t h) {
  const Tensor q = heads_of(x, W_Q, h), k = heads_of(x, W_K, h), v = heads_of(x, W_V, h);  // [B, h, T, d_h]
  return right_project(attend_with(x.dim(2) / h, q, k, v), W_O, b_O);                      // [B, T, D]
}
const Candidate candidate("width_from_stream", with(self_attention),
                          "the scores were divided by sqrt(D / h), which is sqrt(d_h) only where h d_h is D. "
                          "The width of a head is what q has along its last axis.");
}  // namespace width_from_stream

}  // namespace
