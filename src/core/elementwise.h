// The two loops that ops on single elements share.
#pragma once

#include "core/node.h"
#include "core/parallel.h"

namespace headway {

// The same for rows of n numbers in ops that do more with each: softmax, layernorm, cross_entropy.
inline int64_t rows_per_thread(int64_t n) { return 1 + elements_per_thread / (4 * n + 1); }

// dx[i] += term(i) for from <= i < to.
template <class Term>
void for_parts(GradientSum dx, int64_t from, int64_t to, Term term) {
  constexpr int64_t part = 2048;
  for (int64_t i = from; i < to; i += part) {
    const int64_t count = std::min(part, to - i);
    Scalar* dx_i = dx.part(i, i + count);
    for (int64_t j = 0; j < count; j++) dx_i[j] += term(i + j);
  }
}

// out += x
inline void add_values(const Scalar* x, int64_t n, GradientSum out) {
  parallel_for(n, elements_per_thread,
               [=](int64_t from, int64_t to) { for_parts(out, from, to, [=](int64_t i) { return x[i]; }); });
}

// y = f(x). The op then saves what its backward reads.
template <class F>
Result unary(const char* name, const Tensor& x, Backward backward, F f) {
  Result y(name, x.shape(), {x}, backward);
  const Scalar* in = x.data();
  Scalar* out = y.data();
  parallel_for(x.size(), elements_per_thread, [=](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++) out[i] = f(in[i]);
  });
  return y;
}

// dx += dy slope(s), where s is the tensor that the op saved.
template <class F>
void unary_backward(Node& y, F slope) {
  const Scalar* dy = y.grad_data();
  const Scalar* s = y.saved[0].data();
  const GradientSum dx = y.parent_sum(0);
  parallel_for(y.size(), elements_per_thread, [=](int64_t from, int64_t to) {
    for_parts(dx, from, to, [=](int64_t i) { return dy[i] * slope(s[i]); });
  });
}

}  // namespace headway
