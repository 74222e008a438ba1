// Exercise 09-project: what one head adds, all heads together, and the finished causal layer.
//
// Write the three functions between BEGIN and END; helpers and an #include of your own may stand there too.
// core/tensor.h, core/ops.h and core/mask.h are there, Allow::causal among them. MultiheadAttention is not:
// you build it. show(x) prints a tensor, and the report shows what was printed. Then: make 09-check
#include <cmath>

#include "course/candidate.h"

using namespace headway;

namespace {

// BEGIN exercise 09-project

// z [B, h, T, d_h], W_O [h d_h, D] -> [B, T, D]: what head number `head` adds to the output. It is the z of
// this head through the rows of W_O that belong to it. The bias is no part of it.
Tensor addend(const Tensor& z, const Tensor& W_O, int64_t head) {
  const int64_t B = z.dim(0), T = z.dim(2), d_h = z.dim(3);
  const Tensor z_i = reshape(slice(z, 1, head, head + 1), {B, T, d_h});  // [B, T, d_h]
  const Tensor rows = slice(W_O, 0, head * d_h, (head + 1) * d_h);       // [d_h, D]
  return matmul(z_i, rows);                                              // [B, T, D]
}

// z [B, h, T, d_h], W_O [h d_h, D], b_O [D] -> [B, T, D]: what all heads add, and the bias.
Tensor project(const Tensor& z, const Tensor& W_O, const Tensor& b_O) {
  Tensor total = b_O;                                                        // [D]
  for (int64_t i = 0; i < z.dim(1); i++) total = total + addend(z, W_O, i);  // [B, T, D]
  return total;
}

// x [B, T, D] W [D, h d_h] -> [B, h, T, d_h]
Tensor project_and_split(const Tensor& x, const Tensor& W, int64_t h) {
  const Tensor cut = reshape(matmul(x, W), {x.dim(0), x.dim(1), h, -1});  // [B, T, h, d_h]
  return permute(cut, {0, 2, 1, 3});                                      // [B, h, T, d_h]
}

// The whole layer, causal: x [B, T, D] -> [B, T, D]. W_Q, W_K and W_V are [D, h d_h], W_O is [h d_h, D], b_O
// is [D]; q, k and v have no biases. h d_h need not be D.
Tensor self_attention(const Tensor& x, const Tensor& W_Q, const Tensor& W_K, const Tensor& W_V,
                      const Tensor& W_O, const Tensor& b_O, int64_t num_heads) {
  const Tensor q = project_and_split(x, W_Q, num_heads);                         // [B, h, T, d_h]
  const Tensor k = project_and_split(x, W_K, num_heads);                         // [B, h, T, d_h]
  const Tensor v = project_and_split(x, W_V, num_heads);                         // [B, h, T, d_h]
  const Scalar factor = Scalar(1 / std::sqrt(double(q.dim(3))));                 // 1 / sqrt(d_h)
  const Tensor scores = scale(matmul(q, transpose(k)), factor);                  // [B, h, T, T]
  const Tensor pattern = softmax(scores, Allow::causal(x.dim(1), x.dim(1), 0));  // [B, h, T, T]
  return project(matmul(pattern, v), W_O, b_O);                                  // [B, T, D]
}

// END

// make 09-check finds the functions under these names.
const Candidate candidate(__FILE__,
                          {{"addend", addend}, {"project", project}, {"self_attention", self_attention}});

}  // namespace
