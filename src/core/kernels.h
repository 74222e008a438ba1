// The inner loops that everything else is made of. Each has two forms: `naive` below defines the numbers, in
// the plainest loops; the one without prefix is what the ops call. In the float build that is the fast form
// in src/fast, which gives the same bits; in the double build it is the naive one.
//
// Three written orders of summation, kept by both forms:
//  (a) matrix product: per output one chain of fma, k ascending, from 0; a finished product is then added
//      to a gradient;
//  (b) along a row: 8 lanes, lane j takes elements j, j+8, j+16, ...; then the fixed tree
//      ((l0+l4) + (l2+l6)) + ((l1+l5) + (l3+l7));
//  (c) over rows: chunks of 64 rows, each summed from 0 in order, then the chunks in order.
#pragma once

#include "core/scalar.h"

namespace headway {

// A matrix as a kernel sees it: element (i, j) stands at data[i * row + j * column]. Transposing swaps the
// strides.
struct Matrix {
  const Scalar* data;
  int64_t row;
  int64_t column;
};

// c [M, N] = a [M, K] b [K, N], order (a). c is row-major with rows of N. `add`: c += the finished product.
void matrix_product(int64_t M, int64_t N, int64_t K, Matrix a, Matrix b, Scalar* c, bool add);

// Order (b). row_max of nothing is -inf; a NaN anywhere makes it NaN.
Scalar row_sum(const Scalar* x, int64_t n);
Scalar row_max(const Scalar* x, int64_t n);
Scalar row_dot(const Scalar* x, const Scalar* y, int64_t n);

// out[j] += the sum over i of x[i * columns + j], order (c).
void add_column_sums(const Scalar* x, int64_t rows, int64_t columns, Scalar* out);

// The second half of order (c), for an op that sums its rows itself, each chunk from 0: adds sums
// [chunks, columns] in order, and the total to out [columns]. Leaves other numbers in sums.
constexpr int64_t chunk_rows = 64;
void add_chunk_sums(Scalar* sums, int64_t chunks, int64_t columns, Scalar* out);

// out[j * out_row + i] = x[i * x_row + j] for each i < rows and j < columns; `add`: out += instead.
void transpose_matrix(int64_t rows, int64_t columns, const Scalar* x, int64_t x_row, Scalar* out,
                      int64_t out_row, bool add);

namespace naive {
void matrix_product(int64_t M, int64_t N, int64_t K, Matrix a, Matrix b, Scalar* c, bool add);
Scalar row_sum(const Scalar* x, int64_t n);
Scalar row_max(const Scalar* x, int64_t n);
Scalar row_dot(const Scalar* x, const Scalar* y, int64_t n);
void add_column_sums(const Scalar* x, int64_t rows, int64_t columns, Scalar* out);
void transpose_matrix(int64_t rows, int64_t columns, const Scalar* x, int64_t x_row, Scalar* out,
                      int64_t out_row, bool add);
}  // namespace naive

}  // namespace headway
