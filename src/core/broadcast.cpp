#include "core/broadcast.h"

#include <algorithm>

#include "core/kernels.h"
#include "core/permute.h"

namespace headway {

namespace {

// Size of axis `i` of `shape` once it is aligned at the last axes of a shape of rank `rank`.
int64_t aligned_size(const Shape& shape, size_t i, size_t rank) {
  const size_t missing = rank - shape.size();
  return i < missing ? 1 : shape[i - missing];
}

}  // namespace

Shape broadcast_shape(const char* op, const Tensor& a, const Tensor& b, int apart) {
  const Shape left(a.shape().begin(), a.shape().end() - apart);
  const Shape right(b.shape().begin(), b.shape().end() - apart);
  const size_t rank = std::max(left.size(), right.size());
  Shape result(rank);
  for (size_t i = 0; i < rank; i++) {
    const int64_t na = aligned_size(left, i, rank);
    const int64_t nb = aligned_size(right, i, rank);
    if (na != nb && na != 1 && nb != 1) {
      throw ShapeError(Message(text(op, ": sizes ", na, " and ", nb, " on axis ",
                                    int64_t(i) - int64_t(rank) - apart, " do not match"))
                           .tensor("a", a.name(), a.shape())
                           .tensor("b", b.name(), b.shape())
                           .rule("aligned at the last axis, two sizes must be equal, or one of them 1")
                           .hint("reshape puts a 1 where an operand is to be repeated"));
    }
    result[i] = na == 1 ? nb : na;
  }
  return result;
}

BroadcastRows::BroadcastRows(const Shape& a, const Shape& b, const Shape& result) {
  const size_t rank = result.size();
  int64_t a_run = 1, b_run = 1;  // numbers of a and b inside the axes met so far
  for (size_t i = rank; i-- > 0;) {
    const int64_t size = result[i];
    if (size == 1) continue;
    const int64_t a_stride = aligned_size(a, i, rank) == 1 ? 0 : a_run;
    const int64_t b_stride = aligned_size(b, i, rank) == 1 ? 0 : b_run;
    a_run *= a_stride ? size : 1;
    b_run *= b_stride ? size : 1;
    const bool first = length == 1 && sizes_.empty();
    int64_t& inner_size = sizes_.empty() ? length : sizes_.front();
    const int64_t a_inner = sizes_.empty() ? a_step : a_strides_.front();
    const int64_t b_inner = sizes_.empty() ? b_step : b_strides_.front();
    if (first) {
      length = size;
      a_step = a_stride;
      b_step = b_stride;
    } else if (a_stride == a_inner * inner_size && b_stride == b_inner * inner_size) {
      inner_size *= size;  // runs on without a jump in both
      if (!sizes_.empty()) rows *= size;
    } else {
      sizes_.insert(sizes_.begin(), size);
      a_strides_.insert(a_strides_.begin(), a_stride);
      b_strides_.insert(b_strides_.begin(), b_stride);
      rows *= size;
    }
    if (size == 0) rows = 0;
  }
}

int64_t BroadcastRows::start(int64_t r, const std::vector<int64_t>& strides) const {
  int64_t offset = 0;
  for (size_t i = sizes_.size(); i-- > 0; r /= sizes_[i]) offset += r % sizes_[i] * strides[i];
  return offset;
}

void add_reduced(const Scalar* x, const Shape& from, const Shape& shape, Scalar* out) {
  // The repeated axes come first, the kept ones after them: then this is a sum over rows.
  std::vector<int> axes, kept;
  int64_t rows = 1, columns = 1;
  for (size_t i = 0; i < from.size(); i++) {
    const bool repeated = aligned_size(shape, i, from.size()) == 1 && from[i] != 1;
    (repeated ? axes : kept).push_back(int(i));
    (repeated ? rows : columns) *= from[i];
  }
  const size_t repeated_axes = axes.size();
  axes.insert(axes.end(), kept.begin(), kept.end());
  if (repeated_axes > 0 && kept.size() > 0 && !std::is_sorted(axes.begin(), axes.end())) {
    Buffer moved(rows * columns);
    permute_values(x, from, axes, moved.data(), false);
    add_column_sums(moved.data(), rows, columns, out);
  } else {
    add_column_sums(x, rows, columns, out);
  }
}

}  // namespace headway
