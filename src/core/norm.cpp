// LayerNorm: each row gets mean 0 and variance 1, then its own weight and bias.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementwise.h"
#include "core/kernels.h"
#include "core/ops.h"

namespace headway {

namespace {

// What makes x^ of a row: ((x - mean) - rest) reciprocal. The mean is taken twice: around a large one, the
// first pass leaves behind what rounding took from it, the rest.
struct RowStatistics {
  Scalar mean, rest, reciprocal;
};

// out = (x - mean) - rest, reciprocal = 1 / sqrt(variance + eps).
RowStatistics centre_row(const Scalar* x, int64_t n, Scalar eps, Scalar* out) {
  const Scalar mean = row_sum(x, n) / Scalar(n);
  for (int64_t j = 0; j < n; j++) out[j] = x[j] - mean;
  const Scalar rest = row_sum(out, n) / Scalar(n);
  for (int64_t j = 0; j < n; j++) out[j] -= rest;
  const Scalar variance = row_dot(out, out, n) / Scalar(n);
  const Scalar reciprocal = 1 / std::sqrt(variance + eps);
  // Where the squares overflow, 1 / infinity would make a row of zeros of it, in silence.
  return {mean, rest, std::isinf(variance) ? std::numeric_limits<Scalar>::quiet_NaN() : reciprocal};
}

// dx = r (g - mean(g) - x^ mean(g x^)), with g = dy weight, x^ = (x - mean) r and r the reciprocal root of
// the row; dweight = sum over rows of dy x^; dbias = sum over rows of dy.
void layernorm_backward(Node& y) {
  const int64_t n = y.shape.back();
  const int64_t rows = n == 0 ? 0 : y.size() / n, chunks = (rows + chunk_rows - 1) / chunk_rows;
  const Scalar *x = y.saved[0].data(), *weight = y.saved[1].data(), *dy = y.grad_data();
  const Scalar* statistics = y.scalars.data();
  const GradientSum dx = y.parent_sum(0);
  Buffer dweight(chunks * n), dbias(chunks * n);  // of each chunk of rows
  Scalar *dweights = dweight.data(), *dbiases = dbias.data();
  parallel_for(chunks, 1 + elements_per_thread / (4 * chunk_rows * n + 1), [=](int64_t from, int64_t to) {
    Buffer row(2 * n);
    Scalar *x_hat = row.data(), *g = x_hat + n;
    std::fill(dweights + from * n, dweights + to * n, Scalar(0));
    std::fill(dbiases + from * n, dbiases + to * n, Scalar(0));
    for (int64_t r = from * chunk_rows; r < std::min(rows, to * chunk_rows); r++) {
      const Scalar* dy_r = dy + r * n;
      Scalar *dweight_c = dweights + r / chunk_rows * n, *dbias_c = dbiases + r / chunk_rows * n;
      const Scalar *x_r = x + r * n, mean = statistics[3 * r], rest = statistics[3 * r + 1],
                   reciprocal = statistics[3 * r + 2];
      for (int64_t j = 0; j < n; j++) {
        x_hat[j] = ((x_r[j] - mean) - rest) * reciprocal;
        g[j] = dy_r[j] * weight[j];
      }
      for (int64_t j = 0; j < n; j++) dweight_c[j] += x_hat[j] * dy_r[j];
      for (int64_t j = 0; j < n; j++) dbias_c[j] += dy_r[j];
      if (!dx.data) continue;
      const Scalar mean_g = row_sum(g, n) / Scalar(n);
      const Scalar mean_gx = row_dot(g, x_hat, n) / Scalar(n);
      Scalar* dx_r = dx.part(r * n, (r + 1) * n);
      for (int64_t j = 0; j < n; j++) dx_r[j] += reciprocal * (g[j] - mean_g - x_hat[j] * mean_gx);
    }
  });
  if (y.parents[1]) add_chunk_sums(dweights, chunks, n, y.parent_grad(1));
  if (y.parents[2]) add_chunk_sums(dbiases, chunks, n, y.parent_grad(2));
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
  std::vector<Scalar> statistics(static_cast<size_t>(3 * rows));
  const Scalar *in = x.data(), *w = weight.data(), *b = bias.data();
  Scalar *out = y.data(), *saved = statistics.data();
  parallel_for(rows, rows_per_thread(n), [=](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
      Scalar* y_r = out + r * n;
      const RowStatistics row = centre_row(in + r * n, n, eps, y_r);
      for (int64_t j = 0; j < n; j++) y_r[j] = fma(y_r[j] * row.reciprocal, w[j], b[j]);
      saved[3 * r] = row.mean, saved[3 * r + 1] = row.rest, saved[3 * r + 2] = row.reciprocal;
    }
  });
  y.save(x);
  y.save(weight);
  y.scalars(std::move(statistics));
  return y.done();
}

}  // namespace headway
