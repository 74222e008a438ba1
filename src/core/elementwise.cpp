// Ops on two tensors, element by element, with broadcasting. Order does not matter here, so the loops are
// plain and the compiler makes vectors of them.
#include "core/elementwise.h"

#include "core/broadcast.h"
#include "core/node.h"
#include "core/ops.h"

namespace headway {

namespace {

// out = f(a, b), row by row of the broadcast. The three cases are one loop, with steps that the compiler
// knows.
template <class F>
void for_each_pair(const BroadcastRows& rows, const Scalar* a, const Scalar* b, Scalar* out, F f) {
  const int64_t n = rows.length;
  if (rows.rows == 1 && rows.a_step == 1 && rows.b_step == 1) {
    parallel_for(n, elements_per_thread, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; i++) out[i] = f(a[i], b[i]);
    });
    return;
  }
  parallel_for(rows.rows, 1 + elements_per_thread / (n + 1), [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
      const Scalar* a_r = a + rows.a_start(r);
      const Scalar* b_r = b + rows.b_start(r);
      Scalar* out_r = out + r * n;
      if (rows.a_step == 1 && rows.b_step == 1) {
        for (int64_t i = 0; i < n; i++) out_r[i] = f(a_r[i], b_r[i]);
      } else if (rows.a_step == 1) {
        for (int64_t i = 0; i < n; i++) out_r[i] = f(a_r[i], b_r[0]);
      } else {
        for (int64_t i = 0; i < n; i++) out_r[i] = f(a_r[0], b_r[i * rows.b_step]);
      }
    }
  });
}

template <class F>
Tensor binary(const char* name, const Tensor& a, const Tensor& b, Backward backward, bool saves, F f) {
  const Shape shape = broadcast_shape(name, a, b);
  Result y(name, shape, {a, b}, backward);
  for_each_pair(BroadcastRows(a.shape(), b.shape(), shape), a.data(), b.data(), y.data(), f);
  if (saves) y.save(a);
  if (saves) y.save(b);
  return y.done();
}

// The gradient of operand p, in the shape of the result: added as it is, or summed over what was repeated.
void add_gradient(Node& y, size_t p, const Scalar* g) {
  if (y.parent_shape(p) == y.shape)
    add_values(g, y.size(), y.parent_sum(p));
  else
    add_reduced(g, y.shape, y.parent_shape(p), y.parent_grad(p));
}

// g = f(g, x), with x stretched to the shape of y.
template <class F>
void combine(Node& y, const Scalar* g, const Saved& x, Scalar* out, F f) {
  for_each_pair(BroadcastRows(y.shape, x.shape, y.shape), g, x.data(), out, f);
}

void add_backward(Node& y) {
  if (y.parents[0]) add_gradient(y, 0, y.grad_data());
  if (y.parents[1]) add_gradient(y, 1, y.grad_data());
}
}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  return binary("add", a, b, add_backward, false, [](Scalar x, Scalar y) { return x + y; });
}

namespace {
void sub_backward(Node& y) {
  if (y.parents[0]) add_gradient(y, 0, y.grad_data());
  if (!y.parents[1]) return;
  Buffer g(y.size());
  const Scalar* dy = y.grad_data();
  for (int64_t i = 0; i < g.size(); i++) g.data()[i] = -dy[i];
  add_gradient(y, 1, g.data());
}
}  // namespace

Tensor sub(const Tensor& a, const Tensor& b) {
  return binary("sub", a, b, sub_backward, false, [](Scalar x, Scalar y) { return x - y; });
}

namespace {
void mul_backward(Node& y) {  // da = dy b   db = dy a
  Buffer g(y.size());
  for (size_t p : {size_t(0), size_t(1)}) {
    if (!y.parents[p]) continue;
    combine(y, y.grad_data(), y.saved[1 - p], g.data(), [](Scalar d, Scalar x) { return d * x; });
    add_gradient(y, p, g.data());
  }
}
}  // namespace

Tensor mul(const Tensor& a, const Tensor& b) {
  return binary("mul", a, b, mul_backward, true, [](Scalar x, Scalar y) { return x * y; });
}

namespace {
void div_backward(Node& y) {  // da = dy / b   db = -(dy / b) (a / b)
  const Saved &a = y.saved[0], &b = y.saved[1];
  Buffer g(y.size());
  combine(y, y.grad_data(), b, g.data(), [](Scalar d, Scalar x) { return d / x; });
  if (y.parents[0]) add_gradient(y, 0, g.data());
  if (!y.parents[1]) return;
  combine(y, g.data(), a, g.data(), [](Scalar d, Scalar x) { return -d * x; });
  combine(y, g.data(), b, g.data(), [](Scalar d, Scalar x) { return d / x; });
  add_gradient(y, 1, g.data());
}
}  // namespace

Tensor div(const Tensor& a, const Tensor& b) {
  return binary("div", a, b, div_backward, true, [](Scalar x, Scalar y) { return x / y; });
}

}  // namespace headway
