// How many directions a matrix has: the rank of a head's scores is its width d_h.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace headway {

// The singular values of a square matrix [n, n], largest first, computed in double by one-sided Jacobi
// rotations (Hestenes 1958). ShapeError for anything but a square.
std::vector<double> singular_values(const Tensor& matrix);

// How many of them are above 1e-5 of the largest: what a float matrix can tell from rounding.
int numerical_rank(const Tensor& matrix);

}  // namespace headway
