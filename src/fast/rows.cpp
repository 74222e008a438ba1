// Sums along a row in 8 lanes, order (b), and over rows in chunks of 64, order (c): the same bits as the
// naive loops.
#include <algorithm>
#include <limits>

#include "core/kernels.h"
#include "core/parallel.h"
#include "fast/lanes.h"

namespace headway {

namespace {

float tree(const float* l) { return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7])); }

// The larger one; a NaN on either side wins.
inline float larger(float x, float y) { return x > y || x != x ? x : y; }

}  // namespace

float row_sum(const float* x, int64_t n) {
  Lanes sum = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) sum += load(x + i);
  float l[lanes];
  store(l, sum);
  for (int64_t j = 0; i + j < n; j++) l[j] += x[i + j];
  return tree(l);
}

float row_max(const float* x, int64_t n) {
  Lanes most = broadcast(-std::numeric_limits<float>::infinity());
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Lanes v = load(x + i);
    most = ((v > most) | (v != v)) ? v : most;
  }
  float l[lanes];
  store(l, most);
  for (int64_t j = 0; i + j < n; j++) l[j] = larger(x[i + j], l[j]);
  return larger(larger(larger(l[0], l[4]), larger(l[2], l[6])),
                larger(larger(l[1], l[5]), larger(l[3], l[7])));
}

float row_dot(const float* x, const float* y, int64_t n) {
  Lanes sum = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) sum = fma(load(x + i), load(y + i), sum);
  float l[lanes];
  store(l, sum);
  for (int64_t j = 0; i + j < n; j++) l[j] = fma(x[i + j], y[i + j], l[j]);
  return tree(l);
}

void add_column_sums(const float* x, int64_t rows, int64_t columns, float* out) {
  constexpr int64_t block = 64;  // columns at a time, so that the sums stay in the nearest cache
  parallel_for(columns, block, [&](int64_t first, int64_t last) {
    for (int64_t j0 = first; j0 < last; j0 += block) {
      const int64_t width = std::min(block, last - j0);
      float total[block] = {};
      for (int64_t from = 0; from < rows; from += 64) {
        float chunk[block] = {};
        for (int64_t i = from; i < std::min(rows, from + 64); i++) {
          const float* x_i = x + i * columns + j0;
          for (int64_t j = 0; j < width; j++) chunk[j] += x_i[j];
        }
        for (int64_t j = 0; j < width; j++) total[j] += chunk[j];
      }
      for (int64_t j = 0; j < width; j++) out[j0 + j] += total[j];
    }
  });
}

}  // namespace headway
