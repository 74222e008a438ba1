// The definition of the numbers: the plainest loop for each kernel. src/fast must agree to the last bit.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/kernels.h"

namespace headway {

namespace naive {

void matrix_product(int64_t M, int64_t N, int64_t K, Matrix a, Matrix b, Scalar* c, bool add) {
  for (int64_t i = 0; i < M; i++) {
    for (int64_t j = 0; j < N; j++) {
      Scalar dot = 0;
      for (int64_t k = 0; k < K; k++) {
        dot = fma(a.data[i * a.row + k * a.column], b.data[k * b.row + j * b.column], dot);
      }
      c[i * N + j] = add ? c[i * N + j] + dot : dot;
    }
  }
}

namespace {
constexpr int64_t lanes = 8;

Scalar tree(const Scalar* l) { return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7])); }

// The larger one; a NaN on either side wins.
Scalar larger(Scalar x, Scalar y) { return x > y || std::isnan(x) ? x : y; }
}  // namespace

Scalar row_sum(const Scalar* x, int64_t n) {
  Scalar lane[lanes] = {};
  for (int64_t i = 0; i < n; i++) lane[i % lanes] += x[i];
  return tree(lane);
}

Scalar row_max(const Scalar* x, int64_t n) {
  Scalar l[lanes];
  std::fill_n(l, lanes, -std::numeric_limits<Scalar>::infinity());
  for (int64_t i = 0; i < n; i++) l[i % lanes] = larger(x[i], l[i % lanes]);
  return larger(larger(larger(l[0], l[4]), larger(l[2], l[6])),
                larger(larger(l[1], l[5]), larger(l[3], l[7])));
}

Scalar row_dot(const Scalar* x, const Scalar* y, int64_t n) {
  Scalar lane[lanes] = {};
  for (int64_t i = 0; i < n; i++) lane[i % lanes] = fma(x[i], y[i], lane[i % lanes]);
  return tree(lane);
}

void add_column_sums(const Scalar* x, int64_t rows, int64_t columns, Scalar* out) {
  std::vector<Scalar> total(size_t(columns), Scalar(0));
  for (int64_t from = 0; from < rows; from += chunk_rows) {
    const int64_t to = std::min(rows, from + chunk_rows);
    for (int64_t j = 0; j < columns; j++) {
      Scalar chunk = 0;
      for (int64_t i = from; i < to; i++) chunk += x[i * columns + j];
      total[size_t(j)] += chunk;
    }
  }
  for (int64_t j = 0; j < columns; j++) out[j] += total[size_t(j)];
}

void transpose_matrix(int64_t rows, int64_t columns, const Scalar* x, int64_t x_row, Scalar* out,
                      int64_t out_row, bool add) {
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      Scalar& out_ji = out[j * out_row + i];
      out_ji = add ? out_ji + x[i * x_row + j] : x[i * x_row + j];
    }
  }
}

}  // namespace naive

void add_chunk_sums(Scalar* sums, int64_t chunks, int64_t columns, Scalar* out) {
  for (int64_t c = 1; c < chunks; c++) {
    for (int64_t j = 0; j < columns; j++) sums[j] += sums[c * columns + j];
  }
  for (int64_t j = 0; j < columns && chunks > 0; j++) out[j] += sums[j];
}

#ifdef SCALAR_DOUBLE
void matrix_product(int64_t M, int64_t N, int64_t K, Matrix a, Matrix b, Scalar* c, bool add) {
  naive::matrix_product(M, N, K, a, b, c, add);
}
Scalar row_sum(const Scalar* x, int64_t n) { return naive::row_sum(x, n); }
Scalar row_max(const Scalar* x, int64_t n) { return naive::row_max(x, n); }
Scalar row_dot(const Scalar* x, const Scalar* y, int64_t n) { return naive::row_dot(x, y, n); }
void add_column_sums(const Scalar* x, int64_t rows, int64_t columns, Scalar* out) {
  naive::add_column_sums(x, rows, columns, out);
}
void transpose_matrix(int64_t rows, int64_t columns, const Scalar* x, int64_t x_row, Scalar* out,
                      int64_t out_row, bool add) {
  naive::transpose_matrix(rows, columns, x, x_row, out, out_row, add);
}
#endif

}  // namespace headway
