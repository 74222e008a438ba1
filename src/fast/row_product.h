// The matrix product for a single row of a: what decoding one token needs.
#pragma once

#include "core/kernels.h"

namespace headway {

// c [N] = a [1, K] b [K, N], order (a), for a b whose rows lie in memory as they are (b.column is 1).
void row_product(int64_t N, int64_t K, Matrix a, Matrix b, float* c);

}  // namespace headway
