// NumPy broadcasting: which element of each operand stands behind an element of the result.
#pragma once

#include "core/tensor.h"

namespace headway {

// The shape both operands are stretched to. ShapeError, naming both tensors, if two sizes differ and neither
// is 1. The last `apart` axes stay out of it (matmul: 2).
Shape broadcast_shape(const char* op, const Tensor& a, const Tensor& b, int apart = 0);

// The result as rows of equal length, along which each operand moves by a fixed step: 1, or 0 where it is
// repeated. Axes that run on without a jump in both operands are merged, so equal shapes make a single row.
class BroadcastRows {
public:
  BroadcastRows(const Shape& a, const Shape& b, const Shape& result);
  int64_t rows = 1;
  int64_t length = 1;
  int64_t a_step = 0;
  int64_t b_step = 0;
  // Where row r of the result begins in operand a or b.
  int64_t a_start(int64_t r) const { return start(r, &Axis::a_stride); }
  int64_t b_start(int64_t r) const { return start(r, &Axis::b_stride); }

private:
  struct Axis {
    int64_t size, a_stride, b_stride;
  };
  int64_t start(int64_t r, int64_t Axis::*stride) const;
  std::vector<Axis> axes_;  // the merged ones, innermost first: the row itself
};

// out [shape] += x [from] summed over every axis where `shape` is 1 or missing: the way back from a
// broadcast.
void add_reduced(const Scalar* x, const Shape& from, const Shape& shape, Scalar* out);

}  // namespace headway
