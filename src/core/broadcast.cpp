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
  if (apart == 0 && a.shape() == b.shape()) return a.shape();
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
  int64_t a_run = 1, b_run = 1;  // numbers of a and b inside the axes met so far
  for (size_t i = result.size(); i-- > 0;) {
    const int64_t size = result[i];
    if (size == 1) continue;
    const int64_t a_stride = aligned_size(a, i, result.size()) == 1 ? 0 : a_run;
    const int64_t b_stride = aligned_size(b, i, result.size()) == 1 ? 0 : b_run;
    if (a_stride) a_run *= size;
    if (b_stride) b_run *= size;
    Axis* inner = axes_.empty() ? nullptr : &axes_.back();
    if (inner && a_stride == inner->a_stride * inner->size && b_stride == inner->b_stride * inner->size)
      inner->size *= size;  // runs on without a jump
    else
      axes_.push_back({size, a_stride, b_stride});
  }
  if (axes_.empty()) return;  // a single number
  length = axes_[0].size;
  a_step = axes_[0].a_stride;
  b_step = axes_[0].b_stride;
  for (size_t i = 1; i < axes_.size(); i++) rows *= axes_[i].size;
}

int64_t BroadcastRows::start(int64_t r, int64_t Axis::*stride) const {
  int64_t offset = 0;
  for (size_t i = 1; i < axes_.size(); r /= axes_[i++].size) offset += r % axes_[i].size * axes_[i].*stride;
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
