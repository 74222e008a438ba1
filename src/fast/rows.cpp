// Sums along a row in 8 lanes, order (b), and over rows in chunks of 64, order (c): the same bits as the
// naive loops.
#include <algorithm>
#include <limits>

#include "core/buffer.h"
#include "core/kernels.h"
#include "core/parallel.h"
#include "fast/lanes.h"

namespace headway {

namespace {

inline Lanes sum_of(Lanes x, Lanes y) { return x + y; }

// The larger one; a NaN on either side wins.
inline Lanes larger(Lanes x, Lanes y) { return ((x > y) | (x != x)) ? x : y; }

// The numbers behind the last whole vector, and `filler` in the lanes they leave free.
inline Lanes load_rest(const float* x, int64_t count, float filler) {
  float l[lanes];
  for (int64_t j = 0; j < lanes; j++) l[j] = j < count ? x[j] : filler;
  return load(l);
}

}  // namespace

float row_sum(const float* x, int64_t n) {
  Lanes sum = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) sum += load(x + i);
  if (i < n) sum += load_rest(x + i, n - i, 0);
  return fold(sum, sum_of);
}

float row_max(const float* x, int64_t n) {
  const float least = -std::numeric_limits<float>::infinity();
  Lanes most = broadcast(least);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) most = larger(load(x + i), most);
  if (i < n) most = larger(load_rest(x + i, n - i, least), most);
  return fold(most, larger);
}

float row_dot(const float* x, const float* y, int64_t n) {
  Lanes sum = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) sum = fma(load(x + i), load(y + i), sum);
  // In lanes left free the product is -0, which leaves any sum as it is; adding 0 would turn -0 into 0.
  if (i < n) sum = fma(load_rest(x + i, n - i, -0.0f), load_rest(y + i, n - i, 0), sum);
  return fold(sum, sum_of);
}

void add_column_sums(const float* x, int64_t rows, int64_t columns, float* out) {
  const int64_t chunks = std::max<int64_t>(1, (rows + chunk_rows - 1) / chunk_rows);
  Buffer buffer(chunks * columns);  // the sums of each chunk: threads share the chunks
  float* sums = buffer.data();
  parallel_for(chunks, 1 + 256 / (columns + 1), [=](int64_t from, int64_t to) {
    for (int64_t c = from; c < to; c++) {
      float* sum = sums + c * columns;
      std::fill_n(sum, columns, 0.0f);
      for (int64_t i = chunk_rows * c; i < std::min(rows, chunk_rows * (c + 1)); i++) {
        for (int64_t j = 0; j < columns; j++) sum[j] += x[i * columns + j];
      }
    }
  });
  add_chunk_sums(sums, chunks, columns, out);
}

void transpose_matrix(int64_t rows, int64_t columns, const float* x, int64_t x_row, float* out,
                      int64_t out_row, bool add) {
  int64_t i = 0;
  for (; i + lanes <= rows; i += lanes) {
    int64_t j = 0;
    for (; j + lanes <= columns; j += lanes) {
      Lanes v[lanes];
      for (int64_t r = 0; r < lanes; r++) v[r] = load(x + (i + r) * x_row + j);
      transpose(v);
      for (int64_t r = 0; r < lanes; r++) {
        float* out_r = out + (j + r) * out_row + i;
        store(out_r, add ? load(out_r) + v[r] : v[r]);
      }
    }
    naive::transpose_matrix(lanes, columns - j, x + i * x_row + j, x_row, out + j * out_row + i, out_row,
                            add);
  }
  naive::transpose_matrix(rows - i, columns, x + i * x_row, x_row, out + i, out_row, add);
}

}  // namespace headway
