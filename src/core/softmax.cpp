// softmax, plain and under masks, and log_softmax, along the last axis.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/broadcast.h"
#include "core/elementwise.h"
#include "core/kernels.h"
#include "core/maths.h"
#include "core/ops.h"

namespace headway {

namespace {

constexpr Scalar minus_infinity = -std::numeric_limits<Scalar>::infinity();

constexpr int64_t chunk_size = 2048;  // numbers that stay in the nearest cache

// out = softmax of each row of x, at most chunk_size rows; x may be out. Where all is -inf, nothing is
// allowed, and the weights are 0. Each step runs over all rows before the next: within one short row it would
// only wait.
void softmax_rows(const Scalar* x, int64_t rows, int64_t n, Scalar* out) {
  Scalar most[chunk_size];
  for (int64_t r = 0; r < rows; r++) {
    most[r] = row_max(x + r * n, n);
    if (most[r] == minus_infinity) most[r] = 0;  // e^-inf is 0
  }
  for (int64_t r = 0; r < rows; r++) {
    const Scalar most_r = most[r];
    for (int64_t j = r * n; j < (r + 1) * n; j++) out[j] = maths::exp(x[j] - most_r);
  }
  for (int64_t r = 0; r < rows; r++) {
    Scalar* out_r = out + r * n;
    const Scalar total = row_sum(out_r, n);
    if (total == 0) continue;
    for (int64_t j = 0; j < n; j++) out_r[j] /= total;
  }
}

void softmax_backward(Node& y) {  // dx = y (dy - sum_k y_k dy_k)
  const int64_t n = y.shape.back();
  const int64_t rows = n == 0 ? 0 : y.size() / n;
  const Scalar *p = y.saved[0].data(), *dy = y.grad_data();
  const GradientSum dx = y.parent_sum(0);
  parallel_for(rows, rows_per_thread(n), [=](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
      const Scalar mean_dy = row_dot(p + r * n, dy + r * n, n);
      Scalar* dx_r = dx.part(r * n, (r + 1) * n);
      for (int64_t j = 0; j < n; j++) dx_r[j] += p[r * n + j] * (dy[r * n + j] - mean_dy);
    }
  });
}

// scores(from, to, out) returns rows from .. to-1 of x: where they stand, or, under a mask, written to out.
template <class Scores>
Tensor softmax_of(const Tensor& x, Scores scores) {
  const int64_t n = x.dim(-1);
  Result y("softmax", x.shape(), {x}, softmax_backward);
  Scalar* out = y.data();
  parallel_for(n == 0 ? 0 : x.size() / n, rows_per_thread(n), [=](int64_t from, int64_t to) {
    const int64_t chunk = std::max<int64_t>(1, chunk_size / n);
    for (int64_t r = from; r < to; r += chunk) {
      const int64_t end = std::min(to, r + chunk);
      softmax_rows(scores(r, end, out + r * n), end - r, n, out + r * n);
    }
  });
  y.save_self();
  return y.done();
}

}  // namespace

Tensor softmax(const Tensor& x) {
  axis_index("softmax", -1, x);
  const Scalar* in = x.data();
  const int64_t n = x.dim(-1);
  return softmax_of(x, [=](int64_t from, int64_t, Scalar*) { return in + from * n; });
}

Tensor softmax(const Tensor& x, const Allow& allow) {
  expect_mask_fits("softmax", "Allow", allow.shape(), x);
  const BroadcastRows mask(x.shape(), allow.shape(), x.shape());
  const unsigned char* flags = allow.flags().data();
  const Scalar* in = x.data();
  const int64_t n = x.dim(-1), step = mask.b_step;
  return softmax_of(x, [&mask, flags, in, n, step](int64_t from, int64_t to, Scalar* out) -> const Scalar* {
    for (int64_t r = from; r < to; r++) {
      // Row r of the scores stands somewhere inside a row of the broadcast, which may span several.
      const int64_t at = r * n;
      const unsigned char* f = flags + mask.b_start(at / mask.length) + at % mask.length * step;
      const Scalar* in_r = in + at;
      Scalar* out_r = out + (r - from) * n;
      if (step == 1)
        for (int64_t j = 0; j < n; j++) out_r[j] = f[j] ? in_r[j] : minus_infinity;
      else
        for (int64_t j = 0; j < n; j++) out_r[j] = f[j * step] ? in_r[j] : minus_infinity;
    }
    return out;
  });
}

Tensor softmax(const Tensor& x, const Bias& bias) {
  expect_mask_fits("softmax", "Bias", bias.values.shape(), x);
  return softmax(x + bias.values);
}

Tensor add(const Tensor& scores, const Bias& bias) {
  expect_mask_fits("add", "Bias", bias.values.shape(), scores);
  return scores + bias.values;
}

namespace {
void log_softmax_backward(Node& y) {  // dx = dy - softmax(x) sum_k dy_k
  const int64_t n = y.shape.back();
  const int64_t rows = n == 0 ? 0 : y.size() / n;
  const Scalar *v = y.saved[0].data(), *dy = y.grad_data();
  Scalar* dx = y.parent_grad(0);
  for (int64_t r = 0; r < rows; r++) {
    const Scalar total = row_sum(dy + r * n, n);
    for (int64_t j = r * n; j < (r + 1) * n; j++) dx[j] += fma(-maths::exp(v[j]), total, dy[j]);
  }
}
}  // namespace

Tensor log_softmax(const Tensor& x) {
  axis_index("log_softmax", -1, x);
  const int64_t n = x.dim(-1);
  Result y("log_softmax", x.shape(), {x}, log_softmax_backward);
  Buffer e(n);
  for (int64_t r = 0; n > 0 && r < x.size() / n; r++) {
    const Scalar* in = x.data() + r * n;
    Scalar* out = y.data() + r * n;
    const Scalar most = row_max(in, n);
    if (most == minus_infinity) {  // the log of the zeros that softmax gives
      std::fill_n(out, n, minus_infinity);
      continue;
    }
    for (int64_t j = 0; j < n; j++) e.data()[j] = maths::exp(in[j] - most);
    const Scalar log_total = maths::log(row_sum(e.data(), n));
    for (int64_t j = 0; j < n; j++) out[j] = (in[j] - most) - log_total;
  }
  y.save_self();
  return y.done();
}

}  // namespace headway
