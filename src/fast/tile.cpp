// The fast matrix product: the same bits as naive::matrix_product, order (a), many outputs at a time.
//
// Why 8 lanes: a vector register holds 8 floats (AVX2), and one instruction multiplies and adds all of them.
//
// Why 6 x 16: one output is one chain of fma, and each fma waits 4 cycles for the one before. A processor
// starts two vector fma a cycle, so at least 8 vectors of chains must run side by side. A tile of 6 rows x 16
// columns keeps 12 of them in registers, reads two vectors of b and six numbers of a per step of k, and fits
// into the 16 registers there are. Each number read serves 6 or 16 products, so memory keeps up.
//
// Why pack: a tile runs down 16 columns of b. Copied into a panel, k after k, they are read in order,
// whichever way b lies; and a block of panels stays in the second cache while all rows of a pass over it.
//
// The peak: 2 fma a cycle x 8 lanes x 2 operations = 32 a cycle, which is 100 GFLOP/s at 3.1 GHz.
#include <algorithm>
#include <vector>

#include "core/kernels.h"
#include "core/parallel.h"
#include "fast/lanes.h"
#include "fast/row_product.h"

namespace headway {

namespace {

constexpr int64_t tile_rows = 6, tile_columns = 2 * lanes;
constexpr int64_t block_k = 256;        // a panel of 16 columns: 16 KB, for the first cache
constexpr int64_t block_columns = 256;  // a block of panels: 256 KB, for the second

// What becomes of a finished tile, and where its chains of fma begin.
enum class Chain {
  begins,   // at 0; c = the result
  goes_on,  // at what c holds, the same chain up to the block of k before; c = the result
  is_added  // at 0; c += the result
};

// 16 columns of b, or 8: element (k, j) stands at data[k * row + j].
struct Panel {
  const float* data;
  int64_t row;
  int64_t columns;  // that are wanted
};

constexpr float zeros[tile_columns] = {};

// c [R, 8 W] from R rows of a and a panel, all k. Unrolled over the rows, so that the sums stay in registers.
template <int R, int W>
void tile(int64_t K, Matrix a, const Panel& b, float* c, int64_t c_row, Chain chain) {
  const float* from = chain == Chain::goes_on ? c : zeros;
  const int64_t from_row = chain == Chain::goes_on ? c_row : 0;
  Lanes sum[R][W];
#pragma GCC unroll 8
  for (int i = 0; i < R; i++) {
    for (int w = 0; w < W; w++) sum[i][w] = load(from + i * from_row + w * lanes);
  }
  for (int64_t k = 0; k < K; k++) {
    Lanes b_k[W];
    for (int w = 0; w < W; w++) b_k[w] = load(b.data + k * b.row + w * lanes);
#pragma GCC unroll 8
    for (int i = 0; i < R; i++) {
      const Lanes a_ik = broadcast(a.data[i * a.row + k * a.column]);
      for (int w = 0; w < W; w++) sum[i][w] = fma(a_ik, b_k[w], sum[i][w]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < R; i++) {
#pragma GCC unroll 2
    for (int w = 0; w < W; w++) {
      float* c_iw = c + i * c_row + w * lanes;
      if (chain == Chain::is_added) sum[i][w] = load(c_iw) + sum[i][w];
      store(c_iw, sum[i][w]);
    }
  }
}

// The same for as many columns as there are: at the right edge whole vectors do not fit into c.
template <int R, int W>
void tile_to_edge(int64_t K, Matrix a, const Panel& b, float* c, int64_t c_row, Chain chain) {
  if (b.columns == W * lanes) return tile<R, W>(K, a, b, c, c_row, chain);
  float whole[R * W * lanes] = {};
  for (int i = 0; i < R; i++) std::copy_n(c + i * c_row, b.columns, whole + i * W * lanes);
  tile<R, W>(K, a, b, whole, W * lanes, chain);
  for (int i = 0; i < R; i++) std::copy_n(whole + i * W * lanes, b.columns, c + i * c_row);
}

template <int R>
void tiles_of_rows(int64_t K, Matrix a, const Panel* b, const Panel* end, float* c, int64_t c_row,
                   Chain chain) {
  for (; b != end; c += b->columns, b++) {
    if (b->columns <= lanes)
      tile_to_edge<R, 1>(K, a, *b, c, c_row, chain);
    else
      tile_to_edge<R, 2>(K, a, *b, c, c_row, chain);
  }
}
using TilesOfRows = void (*)(int64_t, Matrix, const Panel*, const Panel*, float*, int64_t, Chain);
constexpr TilesOfRows tiles_of[tile_rows + 1] = {nullptr,          tiles_of_rows<1>, tiles_of_rows<2>,
                                                 tiles_of_rows<3>, tiles_of_rows<4>, tiles_of_rows<5>,
                                                 tiles_of_rows<6>};

// How many rows the next tile takes: 7 or 8 are better cut into two tiles of about 4 than into 6 and a rest.
int64_t rows_of_next_tile(int64_t left) { return left > 8 || left == 6 ? 6 : left > 6 ? 4 : left; }

// Copies `columns` columns of b, side by side in rows of `width`, with zeros behind.
void pack(Matrix b, int64_t K, int64_t columns, int64_t width, float* out) {
  if (columns == width && b.row == 1) return transpose_matrix(width, K, b.data, b.column, out, width, false);
  const bool whole = columns == width && b.column == 1;
  for (int64_t k = 0; k < K; k++, out += width) {
    const float* b_k = b.data + k * b.row;
    for (int64_t j = 0; j < width && whole; j += lanes) store(out + j, load(b_k + j));
    for (int64_t j = 0; j < width && !whole; j++) out[j] = j < columns ? b_k[j * b.column] : 0;
  }
}

// One block of columns and one of k.
void block(int64_t M, int64_t N, int64_t K, Matrix a, Matrix b, float* c, int64_t c_row, Chain chain) {
  alignas(64) static thread_local float packed[block_k * block_columns];
  Panel panels[block_columns / tile_columns];
  const Panel* end = panels;
  const bool in_place = b.column == 1 && M <= 48;
  for (int64_t j = 0; j < N; j += tile_columns, end++) {
    const int64_t columns = std::min(tile_columns, N - j);
    const int64_t width = columns <= lanes ? lanes : tile_columns;
    Panel& panel = panels[j / tile_columns];
    panel = {b.data + j, b.row, columns};
    if (in_place && columns == width) continue;
    pack({b.data + j * b.column, b.row, b.column}, K, columns, width, packed + j * K);
    panel = {packed + j * K, width, columns};
  }
  for (int64_t i = 0; i < M;) {
    const int64_t rows = rows_of_next_tile(M - i);
    tiles_of[rows](K, {a.data + i * a.row, a.row, a.column}, panels, end, c + i * c_row, c_row, chain);
    i += rows;
  }
}

}  // namespace

void matrix_product(int64_t M, int64_t N, int64_t K, Matrix a, Matrix b, float* c, bool add) {
  if (M == 1 && b.column == 1 && !add) return row_product(N, K, a, b, c);
  const int64_t grain = tile_rows * (1 + 100000 / (1 + N * K * tile_rows));  // rows worth a thread
  parallel_for(M, grain, [&](int64_t from, int64_t to) {
    const int64_t rows = to - from;
    // A chain cut into blocks of k cannot go on in c if c holds a gradient: it is finished aside.
    const bool aside = add && K > block_k;
    std::vector<float> finished(size_t(aside ? rows * block_columns : 0));
    for (int64_t j = 0; j < N; j += block_columns) {
      const int64_t columns = std::min(block_columns, N - j);
      float* c_j = c + from * N + j;
      int64_t k = 0;
      do {  // once at least: the empty sum is 0
        const Matrix a_k = {a.data + from * a.row + k * a.column, a.row, a.column};
        const Matrix b_kj = {b.data + k * b.row + j * b.column, b.row, b.column};
        const Chain chain = k > 0 ? Chain::goes_on : add && !aside ? Chain::is_added : Chain::begins;
        block(rows, columns, std::min(block_k, K - k), a_k, b_kj, aside ? finished.data() : c_j,
              aside ? columns : N, chain);
        k += block_k;
      } while (k < K);
      for (int64_t i = 0; aside && i < rows; i++) {
        for (int64_t l = 0; l < columns; l++) c_j[i * N + l] += finished[size_t(i * columns + l)];
      }
    }
  });
}

}  // namespace headway
