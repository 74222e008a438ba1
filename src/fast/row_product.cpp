// One row times a matrix. Every number of b serves a single product, so there is nothing to keep in registers
// and nothing worth packing: memory sets the speed. b is read once, in order, four rows at a time, while the
// sums c stay in the nearest cache.
#include "fast/row_product.h"

#include <algorithm>

#include "core/parallel.h"
#include "fast/lanes.h"

namespace headway {

namespace {

// c [N] += R rows of b, from row k on.
template <int R>
void add_rows(int64_t N, int64_t k, Matrix a, Matrix b, float* c) {
  const float* b_k = b.data + k * b.row;
  float a_k[R];
  for (int r = 0; r < R; r++) a_k[r] = a.data[(k + r) * a.column];
  int64_t j = 0;
  for (; j + lanes <= N; j += lanes) {
    Lanes sum = load(c + j);
    for (int r = 0; r < R; r++) sum = fma(broadcast(a_k[r]), load(b_k + r * b.row + j), sum);
    store(c + j, sum);
  }
  for (; j < N; j++) {
    for (int r = 0; r < R; r++) c[j] = fma(a_k[r], b_k[r * b.row + j], c[j]);
  }
}

}  // namespace

void row_product(int64_t N, int64_t K, Matrix a, Matrix b, float* c) {
  const int64_t grain = lanes * (1 + 100000 / (1 + K * lanes));  // columns worth a thread
  parallel_for(N, grain, [&](int64_t from, int64_t to) {
    const Matrix part = {b.data + from, b.row, 1};
    std::fill_n(c + from, to - from, 0.0f);
    int64_t k = 0;
    for (; k + 4 <= K; k += 4) add_rows<4>(to - from, k, a, part, c + from);
    for (; k < K; k++) add_rows<1>(to - from, k, a, part, c + from);
  });
}

}  // namespace headway
