// Exercise 06-split: cut tokens into heads, and a fused projection into q, k and v.
//
// Write the two functions between BEGIN and END; helpers and an #include of your own may stand there too.
// core/tensor.h and core/ops.h are there: reshape, permute, slice, matmul. split_heads is not: you build it.
// show(x) prints a tensor, and the report shows what was printed. Then: make 06-check
#include "course/candidate.h"

using namespace headway;

namespace {

// BEGIN exercise 06-split

// x [B, T, D] -> [B, h, T, d_h] with d_h = D / h: head i of a token is its i-th piece of d_h numbers.
// A D that h does not divide must end in an error (an op of core that cannot do what is asked throws one).
Tensor split(const Tensor& x, int64_t num_heads) {
  const int64_t B = x.dim(0), T = x.dim(1), h = num_heads;
  const Tensor cut = reshape(x, {B, T, h, -1});  // [B, T, h, d_h]
  return permute(cut, {0, 2, 1, 3});             // [B, h, T, d_h]
}

// x [B, T, D] times W [D, 3 E] is q, k and v of every token in one row: first the E numbers of q, then those
// of k, then those of v. Returns q (which = 0), k (1) or v (2), split into heads: [B, h, T, E / h].
Tensor project_and_split(const Tensor& x, const Tensor& W, int64_t num_heads, int64_t which) {
  const int64_t E = W.dim(1) / 3;
  const Tensor qkv = matmul(x, W);                                     // [B, T, 3 E]
  return split(slice(qkv, 2, which * E, (which + 1) * E), num_heads);  // [B, h, T, E / h]
}

// END

// make 06-check finds the functions under these names.
const Candidate candidate(__FILE__, {{"split", split}, {"project_and_split", project_and_split}});

}  // namespace
