// The two loops that ops on single elements share.
#pragma once

#include "core/node.h"
#include "core/parallel.h"

namespace headway {

constexpr int64_t elements_per_thread = 4096;  // fewer are not worth waking a thread for

// The same for rows of n numbers in ops that do more with each: softmax, layernorm, cross_entropy.
inline int64_t rows_per_thread(int64_t n) { return 1 + elements_per_thread / (4 * n + 1); }

// out += x
inline void add_values(const Scalar* x, int64_t n, Scalar* out) {
  parallel_for(n, elements_per_thread, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++) out[i] += x[i];
  });
}

// y = f(x). The op then saves what its backward reads.
template <class F>
Result unary(const char* name, const Tensor& x, Backward backward, F f) {
  Result y(name, x.shape(), {x}, backward);
  const Scalar* in = x.data();
  Scalar* out = y.data();
  parallel_for(x.size(), elements_per_thread, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++) out[i] = f(in[i]);
  });
  return y;
}

// dx += dy slope(s), where s is the tensor that the op saved.
template <class F>
void unary_backward(Node& y, F slope) {
  const Scalar* dy = y.grad_data();
  const Scalar* s = y.saved[0].data();
  Scalar* dx = y.parent_grad(0);
  parallel_for(y.size(), elements_per_thread, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++) dx[i] += dy[i] * slope(s[i]);
  });
}

}  // namespace headway
