// Masks are two types that never turn into each other.
// Allow says which keys a query may attend to: true = may attend (PyTorch's nn.MultiheadAttention has it the
// other way round). Bias is added to the scores. A row with nothing allowed gets weights 0, never NaN.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace headway {

class Allow {
public:
  // `flags` has one entry per element of `shape`, which is [T, S] (the same for all) or has the rank of the
  // scores, usually [B, h, T, S], with 1 where one row serves all. ShapeError if the counts differ.
  Allow(Shape shape, std::vector<unsigned char> flags);

  // Query t stands behind `past` earlier keys and sees keys 0 .. past + t.  [T, S]
  // ValueError for a past below 0 or above S.
  static Allow causal(int64_t T, int64_t S, int64_t past);
  // Item b may see its first lengths[b] keys: the rest is padding.  [B, 1, 1, S]
  // ValueError for a length below 0 or above S.
  static Allow lengths(std::span<const int> lengths, int64_t S);

  const Shape& shape() const { return shape_; }
  const std::vector<unsigned char>& flags() const { return flags_; }

  friend Allow operator&(const Allow& a,
                         const Allow& b);  // allowed by both; NumPy broadcasting, 2-d on the right

private:
  Shape shape_;
  std::vector<unsigned char> flags_;
};

// Throws ShapeError, in the name of `op`, unless a mask of this shape fits scores [..., T, S]. kind: "Allow"
// or "Bias".
void expect_mask_fits(const char* op, const char* kind, const Shape& mask, const Tensor& scores);

struct Bias {
  Tensor values;  // [T, S] or the rank of the scores; added to them, with a gradient if it has a node
};

}  // namespace headway
