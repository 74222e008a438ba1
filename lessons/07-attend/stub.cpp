// Exercise 07-attend: each head on its own, under a mask; and the mask of a causal layer with padded items.
//
// Write the three functions between BEGIN and END; helpers and an #include of your own may stand there too.
// core/tensor.h, core/ops.h and core/mask.h are there: matmul, transpose, scale, softmax; Allow and its &.
// attention is not: you build it. show(x) prints a tensor, and the report shows what was printed.
// Then: make 07-check
#include "course/candidate.h"

using namespace headway;

namespace {

// BEGIN exercise 07-attend

// q [B, h, T, d_h] and k [B, h, S, d_h] -> weights [B, h, T, S]: 0 where `allow` says no, and each row sums
// to 1. A row with nothing allowed is 0 throughout. `allow` is [T, S], or has four axes: [B, h, T, S], with 1
// where one row serves all.
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) { throw NotDone("pattern"); }

// The same, and v [B, h, S, d_v] mixed by these weights: z [B, h, T, d_v].
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Allow& allow) {
  throw NotDone("attend");
}

// Causal and padded at once: [B, 1, T, S]. Of S places the T queries are the last, so S - T keys came before
// the first of them. Item b has lengths[b] real keys; the rest is padding, which no query may see. More
// queries than places must end in an error.
Allow may_see(const std::vector<int>& lengths, int64_t T, int64_t S) { throw NotDone("may_see"); }

// END

// make 07-check finds the functions under these names.
const Candidate candidate(__FILE__, {{"pattern", pattern}, {"attend", attend}, {"may_see", may_see}});

}  // namespace
