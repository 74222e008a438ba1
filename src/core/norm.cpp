// LayerNorm: each row gets mean 0 and variance 1, then its own weight and bias.
#include <cmath>

#include "core/elementwise.h"
#include "core/kernels.h"
#include "core/ops.h"

namespace headway {

namespace {

// out = x - mean. Twice: around a large mean, the first pass leaves behind what rounding took from the mean.
void centre_row(const Scalar* x, int64_t n, Scalar* out) {
  const Scalar mean = row_sum(x, n) / Scalar(n);
  for (int64_t j = 0; j < n; j++) out[j] = x[j] - mean;
  const Scalar rest = row_sum(out, n) / Scalar(n);
  for (int64_t j = 0; j < n; j++) out[j] -= rest;
}

// dx = r (g - mean(g) - x^ mean(g x^)), with g = dy weight, x^ = (x - mean) r and r the reciprocal root of
// the row.
void layernorm_backward(Node& y) {
  const int64_t n = y.shape.back();
  const int64_t rows = n == 0 ? 0 : y.size() / n;
  const Scalar *x = y.saved[0].data(), *weight = y.saved[1].data(), *dy = y.grad_data();
  Scalar* dx = y.parents[0] ? y.parent_grad(0) : nullptr;
  Buffer x_hat_buffer(y.size()), g_buffer(y.size());
  Scalar *x_hat = x_hat_buffer.data(), *g = g_buffer.data();
  parallel_for(rows, rows_per_thread(n), [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
      const Scalar reciprocal = y.scalars[size_t(r)];
      const Scalar* dy_r = dy + r * n;
      Scalar *x_hat_r = x_hat + r * n, *g_r = g + r * n;
      centre_row(x + r * n, n, x_hat_r);
      for (int64_t j = 0; j < n; j++) {
        x_hat_r[j] *= reciprocal;
        g_r[j] = dy_r[j] * weight[j];
      }
      const Scalar mean_g = row_sum(g_r, n) / Scalar(n);
      const Scalar mean_gx = row_dot(g_r, x_hat_r, n) / Scalar(n);
      Scalar* dx_r = dx ? dx + r * n : g_r;
      for (int64_t j = 0; j < n; j++) {
        dx_r[j] += reciprocal * (g_r[j] - mean_g - x_hat_r[j] * mean_gx);
        x_hat_r[j] *= dy_r[j];
      }
    }
  });
  if (y.parents[1]) add_column_sums(x_hat, rows, n, y.parent_grad(1));  // dweight = sum over rows of dy x^
  if (y.parents[2]) add_column_sums(dy, rows, n, y.parent_grad(2));     // dbias = sum over rows of dy
}

}  // namespace

Tensor layernorm(const Tensor& x, const Tensor& weight, const Tensor& bias, Scalar eps) {
  axis_index("layernorm", -1, x);
  const int64_t n = x.dim(-1);
  if (weight.shape() != Shape{n} || bias.shape() != Shape{n}) {
    throw ShapeError(Message(text("layernorm: rows of ", n, " numbers need a weight and a bias of ", n))
                         .tensor("x", x.name(), x.shape())
                         .tensor("weight", weight.name(), weight.shape())
                         .tensor("bias", bias.name(), bias.shape())
                         .rule("one weight and one bias per number of the last axis"));
  }
  Result y("layernorm", x.shape(), {x, weight, bias}, layernorm_backward);
  const int64_t rows = n == 0 ? 0 : x.size() / n;
  std::vector<Scalar> reciprocals(static_cast<size_t>(rows));
  const Scalar *in = x.data(), *w = weight.data(), *b = bias.data();
  Scalar* out = y.data();
  parallel_for(rows, rows_per_thread(n), [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
      Scalar* y_r = out + r * n;
      centre_row(in + r * n, n, y_r);
      const Scalar variance = row_dot(y_r, y_r, n) / Scalar(n);
      const Scalar reciprocal = 1 / std::sqrt(variance + eps);
      for (int64_t j = 0; j < n; j++) y_r[j] = fma(y_r[j] * reciprocal, w[j], b[j]);
      reciprocals[size_t(r)] = reciprocal;
    }
  });
  y.save(x);
  y.save(weight);
  y.scalars(std::move(reciprocals));
  return y.done();
}

}  // namespace headway
