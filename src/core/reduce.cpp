// Sums and means over chosen axes.
#include <algorithm>

#include "core/broadcast.h"
#include "core/elementwise.h"
#include "core/kernels.h"
#include "core/ops.h"

namespace headway {

namespace {

// dx = dy, repeated along the axes that were summed, times the constant of a mean.
void sum_backward(Node& y) {
  const Shape& shape = y.parent_shape(0);
  const Shape kept(y.ints.begin(), y.ints.end());  // shape of y with its summed axes as 1
  const BroadcastRows rows(shape, kept, shape);
  const Scalar factor = y.scalars[0];
  const Scalar* dy = y.grad_data();
  const GradientSum dx = y.parent_sum(0);
  for (int64_t r = 0; r < rows.rows; r++) {
    const Scalar* dy_r = dy + rows.b_start(r);
    Scalar* dx_r = dx.part(r * rows.length, (r + 1) * rows.length);
    for (int64_t i = 0; i < rows.length; i++) dx_r[i] += factor * dy_r[i * rows.b_step];
  }
}

// y = factor times the sum; a mean is a sum with 1/n. Over trailing axes order (b), over others order (c).
Tensor reduce(const char* name, const Tensor& x, const std::vector<int>& axes, bool keep, bool is_mean) {
  std::vector<bool> summed(size_t(x.rank()), axes.empty());
  for (int axis : axes) summed[size_t(axis_index(name, axis, x))] = true;
  Shape shape, with_ones;
  for (size_t i = 0; i < summed.size(); i++) {
    with_ones.push_back(summed[i] ? 1 : x.shape()[i]);
    if (!summed[i] || keep) shape.push_back(with_ones.back());
  }
  Result y(name, shape, {x}, sum_backward);
  const int64_t length = y.size() == 0 ? 0 : x.size() / y.size();  // numbers in each sum
  std::fill_n(y.data(), y.size(), Scalar(0));
  if (std::is_sorted(summed.begin(), summed.end())) {
    for (int64_t r = 0; r < y.size(); r++) y.data()[r] = row_sum(x.data() + r * length, length);
  } else {
    add_reduced(x.data(), x.shape(), with_ones, y.data());
  }
  const Scalar factor = is_mean ? 1 / Scalar(length) : Scalar(1);
  for (int64_t i = 0; is_mean && i < y.size(); i++) y.data()[i] /= Scalar(length);
  y.ints(std::vector<int>(with_ones.begin(), with_ones.end()));
  y.scalars({factor});
  return y.done();
}

}  // namespace

Tensor sum(const Tensor& x, const std::vector<int>& axes, bool keep) {
  return reduce("sum", x, axes, keep, false);
}

Tensor mean(const Tensor& x, const std::vector<int>& axes, bool keep) {
  return reduce("mean", x, axes, keep, true);
}

}  // namespace headway
