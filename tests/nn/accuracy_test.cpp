// How far the ops are from exact arithmetic: the table in core/ops.h and the line in nn/optim.h, measured
// against long double.
#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.h"
#include "core/ops.h"
#include "nn/optim.h"

#ifndef SCALAR_DOUBLE

using namespace headway;

namespace {

using Exact = std::vector<long double>;

// The largest |y - exact|; relative: of |y - exact| / |exact|.
double largest_error(const Tensor& y, const Exact& exact, bool relative) {
  long double most = 0;
  for (size_t i = 0; i < exact.size(); i++) {
    const long double error = std::fabs((long double)(y.values()[i]) - exact[i]);
    most = std::max(most, relative ? error / std::fabs(exact[i]) : error);
  }
  return double(most);
}

// Rows of x, each as exact numbers.
template <class RowOp>
Exact by_rows(const Tensor& x, const RowOp& op) {
  const size_t n = size_t(x.dim(-1));
  Exact out;
  for (size_t from = 0; from < size_t(x.size()); from += n) {
    Exact row(x.values().begin() + int64_t(from), x.values().begin() + int64_t(from + n));
    op(row);
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

Exact one_by_one(const Tensor& x, long double (*f)(long double)) {
  Exact out;
  for (Scalar v : x.values()) out.push_back(f(v));
  return out;
}

long double gelu_tanh_of(long double x) {
  const long double pi = 3.14159265358979323846264338327950288L;
  return x / 2 * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715L * x * x * x)));
}
long double gelu_erf_of(long double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0L))); }
long double sigmoid_of(long double x) { return 1 / (1 + std::exp(-x)); }

// The error must lie below the stated bound, and not far below: a bound that says nothing is no statement.
void check_bound(const char* op, double error, double stated) {
  CAPTURE(op, error, stated);
  CHECK(error <= stated);
  CHECK(error > stated / 4);
}

}  // namespace

TEST_CASE("ops on rows and single numbers are as accurate as ops.h says") {
  Random random(21);
  const Tensor rows = Tensor::uniform({3000, 65}, -3, 3, random);
  const Exact softmax_exact = by_rows(rows, [](Exact& row) {
    const long double most = *std::max_element(row.begin(), row.end());
    long double total = 0;
    for (long double& v : row) total += v = std::exp(v - most);
    for (long double& v : row) v /= total;
  });
  check_bound("softmax", largest_error(softmax(rows), softmax_exact, true), 5e-7);

  const Exact layernorm_exact = by_rows(rows, [](Exact& row) {
    long double mean = 0, variance = 0;
    for (long double v : row) mean += v / (long double)(row.size());
    for (long double v : row) variance += (v - mean) * (v - mean) / (long double)(row.size());
    for (long double& v : row) v = (v - mean) / std::sqrt(variance + (long double)(Scalar(1e-5)));
  });
  const Tensor normed = layernorm(rows, Tensor::full({65}, 1), Tensor::zeros({65}));
  check_bound("layernorm", largest_error(normed, layernorm_exact, false), 4e-7);

  const Tensor wide = Tensor::uniform({200000}, -10, 10, random);
  check_bound("gelu_tanh", largest_error(gelu_tanh(wide), one_by_one(wide, gelu_tanh_of), false), 6e-7);
  check_bound("gelu_erf", largest_error(gelu_erf(wide), one_by_one(wide, gelu_erf_of), false), 5e-7);
  check_bound("sigmoid", largest_error(sigmoid(wide), one_by_one(wide, sigmoid_of), true), 1.3e-7);

  std::vector<int> targets;
  for (int64_t r = 0; r < rows.dim(0); r++) targets.push_back(int(r % 65));
  const Tensor losses = cross_entropy(rows, targets, {.reduction = Reduction::none});
  Exact loss_exact;
  for (size_t r = 0; r < targets.size(); r++) {
    loss_exact.push_back(-std::log(softmax_exact[r * 65 + size_t(targets[r])]));
  }
  check_bound("cross_entropy", largest_error(losses, loss_exact, false), 9e-7);
}

TEST_CASE("a step of AdamW is as accurate as optim.h says") {
  Random random(22);
  const Adam::Options o = {.lr = Scalar(1e-3), .weight_decay = Scalar(0.01)};
  const Tensor w = Tensor::uniform({100000}, -1, 1, random).requires_grad();
  const Tensor g = Tensor::uniform({100000}, -1, 1, random);
  Exact exact;
  for (size_t i = 0; i < size_t(w.size());
       i++) {  // after one step m / (1 - beta1) is g, and v / (1 - beta2) g^2
    const long double w_i = w.values()[i], g_i = g.values()[i], lr = o.lr;
    exact.push_back(w_i - lr * (long double)(o.weight_decay) * w_i -
                    lr * g_i / (std::fabs(g_i) + (long double)(o.eps)));
  }
  sum(w * g).backward();
  Adam({w}, o).step();
  check_bound("AdamW", largest_error(w, exact, false), 1e-7);
}

#endif
