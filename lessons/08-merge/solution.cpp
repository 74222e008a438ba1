// Exercise 08-merge: heads side by side again, every head with a pattern of its own, and the detector.
//
// Write the three functions between BEGIN and END; helpers and an #include of your own may stand there too.
// core/tensor.h and core/ops.h are there. split_heads and merge_heads are not: you build them.
// show(x) prints a tensor, and the report shows what was printed. Then: make 08-check
#include "course/candidate.h"

using namespace headway;

namespace {

// BEGIN exercise 08-merge

// z [B, h, T, d_h] -> [B, T, h d_h]: row t of the result is row t of head 0, then row t of head 1, and so on.
Tensor merge(const Tensor& z) {
  const int64_t B = z.dim(0), h = z.dim(1), T = z.dim(2), d_h = z.dim(3);
  const Tensor side_by_side = permute(z, {0, 2, 1, 3});  // [B, T, h, d_h]
  return reshape(side_by_side, {B, T, h * d_h});         // [B, T, h d_h]
}

// x [B, T, D], pattern [B, h, T, T]: head i is the i-th piece of d_h = D / h numbers of every token. Its row
// t becomes the sum over s of pattern[b, i, t, s] times its row s. Returns the heads side by side: [B, T, D].
Tensor mix(const Tensor& x, const Tensor& pattern) {
  const int64_t B = x.dim(0), T = x.dim(1), h = pattern.dim(1);
  const Tensor pieces = reshape(x, {B, T, h, -1});     // [B, T, h, d_h]
  const Tensor heads = permute(pieces, {0, 2, 1, 3});  // [B, h, T, d_h]
  return merge(matmul(pattern, heads));                // [B, T, D]
}

// before, after [B, T, D] -> [B, T]: 1 for each token of each item with a number that differs, by however
// little, else 0. No op compares: loop over the numbers.
Tensor moved(const Tensor& before, const Tensor& after) {
  const int64_t B = before.dim(0), T = before.dim(1), D = before.dim(2);
  Tensor flags = Tensor::zeros({B, T});  // [B, T]
  for (int64_t i = 0; i < before.size(); i++) {
    if (before.data()[i] != after.data()[i]) flags.mutable_values()[size_t(i / D)] = 1;
  }
  return flags;
}

// END

// make 08-check finds the functions under these names.
const Candidate candidate(__FILE__, {{"merge", merge}, {"mix", mix}, {"moved", moved}});

}  // namespace
