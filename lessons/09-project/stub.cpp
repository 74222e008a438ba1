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
Tensor addend(const Tensor& z, const Tensor& W_O, int64_t head) { throw NotDone("addend"); }

// z [B, h, T, d_h], W_O [h d_h, D], b_O [D] -> [B, T, D]: what all heads add, and the bias.
Tensor project(const Tensor& z, const Tensor& W_O, const Tensor& b_O) { throw NotDone("project"); }

// The whole layer, causal: x [B, T, D] -> [B, T, D]. W_Q, W_K and W_V are [D, h d_h], W_O is [h d_h, D], b_O
// is [D]; q, k and v have no biases. h d_h need not be D.
Tensor self_attention(const Tensor& x, const Tensor& W_Q, const Tensor& W_K, const Tensor& W_V,
                      const Tensor& W_O, const Tensor& b_O, int64_t num_heads) {
  throw NotDone("self_attention");
}

// END

// make 09-check finds the functions under these names.
const Candidate candidate(__FILE__,
                          {{"addend", addend}, {"project", project}, {"self_attention", self_attention}});

}  // namespace
