// Moving numbers to another order of axes: the loop behind permute, transpose and sums over chosen axes.
#pragma once

#include "core/tensor.h"

namespace headway {

// out is x with its axes in the order `axes`: axis i of out is axis axes[i] of x. `add`: out += instead of =.
void permute_values(const Scalar* x, const Shape& shape, const std::vector<int>& axes, Scalar* out, bool add);

}  // namespace headway
