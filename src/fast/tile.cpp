// The fast matrix product: the same bits as naive::matrix_product, order (a), many outputs at a time.
//
// One output is one chain of fma, and each fma waits 4 cycles for the one before. A processor starts two
// vector fma a cycle, so about ten chains of 8 lanes must run side by side: a tile of 6 rows x 16 columns
// keeps 12 of them in registers, reads two vectors of b and six numbers of a per step of k, and leaves room
// for those among 16 registers. Columns of b are packed into panels of 16, k after k, so that the tile reads
// memory in order whichever way b lies.
#include <algorithm>
#include <vector>

#include "core/kernels.h"
#include "core/parallel.h"
#include "fast/lanes.h"

namespace headway {

namespace {

constexpr int64_t tile_rows = 6;

// A panel of b: element (k, j) stands at data[k * row + j]; `columns` of its 8 W columns are wanted.
struct Panel {
  const float* data;
  int64_t row;
  int64_t columns;
};

// c [R, panel.columns] from R rows of a, all k. W vectors of 8 lanes per row.
template <int R, int W>
void tile(int64_t K, Matrix a, const Panel& panel, float* c, int64_t c_row, bool add) {
  Lanes sum[R][W] = {};
  for (int64_t k = 0; k < K; k++) {
    Lanes b[W];
    for (int w = 0; w < W; w++) b[w] = load(panel.data + k * panel.row + w * lanes);
    for (int i = 0; i < R; i++) {
      const Lanes a_ik = broadcast(a.data[i * a.row + k * a.column]);
      for (int w = 0; w < W; w++) sum[i][w] = fma(a_ik, b[w], sum[i][w]);
    }
  }
  for (int i = 0; i < R; i++) {
    float* c_i = c + i * c_row;
    if (panel.columns == W * lanes) {
      for (int w = 0; w < W; w++) {
        store(c_i + w * lanes, add ? load(c_i + w * lanes) + sum[i][w] : sum[i][w]);
      }
    } else {
      float finished[W * lanes];
      for (int w = 0; w < W; w++) store(finished + w * lanes, sum[i][w]);
      for (int64_t j = 0; j < panel.columns; j++) c_i[j] = add ? c_i[j] + finished[j] : finished[j];
    }
  }
}

template <int W>
void rows_of_tiles(int64_t M, int64_t K, Matrix a, const Panel& panel, float* c, int64_t c_row, bool add) {
  int64_t i = 0;
  for (; i + tile_rows <= M; i += tile_rows) {
    tile<tile_rows, W>(K, {a.data + i * a.row, a.row, a.column}, panel, c + i * c_row, c_row, add);
  }
  const Matrix rest = {a.data + i * a.row, a.row, a.column};
  float* c_rest = c + i * c_row;
  switch (M - i) {
  case 1:
    return tile<1, W>(K, rest, panel, c_rest, c_row, add);
  case 2:
    return tile<2, W>(K, rest, panel, c_rest, c_row, add);
  case 3:
    return tile<3, W>(K, rest, panel, c_rest, c_row, add);
  case 4:
    return tile<4, W>(K, rest, panel, c_rest, c_row, add);
  case 5:
    return tile<5, W>(K, rest, panel, c_rest, c_row, add);
  default:
    return;
  }
}

// Columns j .. j+width-1 of b as a panel: in place where they lie side by side and few, else copied, with
// zeros behind.
Panel panel_of(Matrix b, int64_t K, int64_t N, int64_t j, int64_t width, std::vector<float>& packed) {
  const int64_t columns = std::min(width, N - j);
  if (b.column == 1 && columns == width && K * N <= 8192) return {b.data + j, b.row, columns};
  packed.resize(size_t(K * width));
  for (int64_t k = 0; k < K; k++) {
    float* row = packed.data() + k * width;
    for (int64_t i = 0; i < columns; i++) row[i] = b.data[k * b.row + (j + i) * b.column];
    for (int64_t i = columns; i < width; i++) row[i] = 0;
  }
  return {packed.data(), width, columns};
}

}  // namespace

void matrix_product(int64_t M, int64_t N, int64_t K, Matrix a, Matrix b, float* c, bool add) {
  const int64_t grain = tile_rows * (1 + 400000 / (1 + N * K * tile_rows));  // rows worth a thread
  parallel_for(M, grain, [&](int64_t from, int64_t to) {
    thread_local std::vector<float> packed;
    const Matrix a_part = {a.data + from * a.row, a.row, a.column};
    for (int64_t j = 0; j < N;) {
      const bool narrow = N - j <= lanes;
      const Panel panel = panel_of(b, K, N, j, narrow ? lanes : 2 * lanes, packed);
      float* c_part = c + from * N + j;
      if (narrow)
        rows_of_tiles<1>(to - from, K, a_part, panel, c_part, N, add);
      else
        rows_of_tiles<2>(to - from, K, a_part, panel, c_part, N, add);
      j += panel.columns;
    }
  });
}

}  // namespace headway
