// The kernels of src/fast against the naive loops, bit for bit.
#include "core/kernels.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "catch.h"
#include "core/error.h"
#include "core/random.h"

#ifndef SCALAR_DOUBLE

using namespace headway;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();
constexpr float sentinel = -12345.5f;

bool same(float x, float y) {
  return (x != x && y != y) || std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
}

// The first place where two arrays differ, or "": NaN equals NaN, and -0 does not equal 0.
std::string difference(const std::vector<float>& fast, const std::vector<float>& naive) {
  if (std::memcmp(fast.data(), naive.data(), fast.size() * sizeof(float)) == 0) return "";
  for (size_t i = 0; i < fast.size(); i++) {
    if (!same(fast[i], naive[i])) return text("at ", i, ": ", fast[i], " and naive ", naive[i]);
  }
  return "";
}

// Numbers of both signs and many sizes, with negative zeros and denormals between them.
std::vector<float> numbers(int64_t count, Random& random) {
  std::vector<float> out(size_t(count), 0.f);
  for (float& x : out) {
    x = random.uniform(-1, 1);
    switch (random.below(12)) {
    case 0:
      x = -0.f;
      break;
    case 1:
      x *= 1e-41f;  // denormal
      break;
    case 2:
      x *= 1e6f;
      break;
    case 3:
      x *= 1e-20f;  // products of two of these are denormal
      break;
    default:
      break;
    }
  }
  return out;
}

// How an operand lies in memory: rows side by side, transposed, or as a part of a wider matrix.
enum class Lies { plain, transposed, wide };

struct Operand {
  std::vector<float> numbers;
  Matrix matrix;
};

Operand operand(int64_t rows, int64_t columns, Lies lies, Random& random) {
  const int64_t row = lies == Lies::transposed ? 1 : columns + (lies == Lies::wide ? 3 : 0);
  const int64_t column = lies == Lies::transposed ? rows : 1;
  // No number behind the last one is there to be read.
  const int64_t count = rows * columns == 0 ? 0 : (rows - 1) * row + (columns - 1) * column + 1;
  Operand out = {numbers(count, random), {nullptr, row, column}};
  out.matrix.data = out.numbers.data();
  return out;
}

// Both products into equal arrays with sentinels behind c. "" where all bits are equal.
std::string compare(int64_t M, int64_t N, int64_t K, Matrix a, Matrix b, bool add, Random& random) {
  std::vector<float> fast = numbers(M * N, random);
  fast.insert(fast.end(), 16, sentinel);
  std::vector<float> slow = fast;
  matrix_product(M, N, K, a, b, fast.data(), add);
  naive::matrix_product(M, N, K, a, b, slow.data(), add);
  const std::string found = difference(fast, slow);
  return found.empty() ? "" : text("M ", M, " N ", N, " K ", K, add ? " added " : " ", found);
}

std::vector<int64_t> sizes() {
  std::vector<int64_t> out;
  for (int64_t n = 1; n <= 20; n++) out.push_back(n);
  for (int64_t n : {31, 32, 33, 48, 49}) out.push_back(n);
  return out;
}

}  // namespace

TEST_CASE("the fast matrix product has the bits of the naive one at every edge, plain and transposed") {
  Random random(1);
  for (int64_t M : sizes()) {
    for (int64_t N : sizes()) {
      std::string found;
      for (int64_t K : {0, 1, 2, 7, 8, 9, 64, 257}) {
        for (int ways = 0; ways < 4; ways++) {
          const Operand a = operand(M, K, ways & 1 ? Lies::transposed : Lies::plain, random);
          const Operand b = operand(K, N, ways & 2 ? Lies::transposed : Lies::plain, random);
          for (bool add : {false, true}) found += compare(M, N, K, a.matrix, b.matrix, add, random);
        }
      }
      REQUIRE(found == "");
    }
  }
}

TEST_CASE("the operands of the fast matrix product may be parts of wider matrices") {
  Random random(2);
  for (int64_t M : {0, 1, 5, 6, 7, 13}) {
    for (int64_t N : {0, 1, 8, 9, 16, 17, 40}) {
      for (int64_t K : {1, 9, 300}) {
        const Operand a = operand(M, K, Lies::wide, random), b = operand(K, N, Lies::wide, random);
        REQUIRE(compare(M, N, K, a.matrix, b.matrix, false, random) == "");
        REQUIRE(compare(M, N, K, a.matrix, b.matrix, true, random) == "");
      }
    }
  }
}

TEST_CASE("blocks of k and of columns change no bit of the fast matrix product") {
  Random random(8);
  for (int64_t M : {1, 5, 49, 60}) {
    for (int64_t N : {255, 257, 300, 530}) {
      for (int64_t K : {255, 256, 513}) {
        for (int ways = 0; ways < 4; ways++) {
          const Operand a = operand(M, K, ways & 1 ? Lies::transposed : Lies::plain, random);
          const Operand b = operand(K, N, ways & 2 ? Lies::transposed : Lies::plain, random);
          REQUIRE(compare(M, N, K, a.matrix, b.matrix, ways == 1, random) == "");
          REQUIRE(compare(M, N, K, a.matrix, b.matrix, ways != 1, random) == "");
        }
      }
    }
  }
}

TEST_CASE("the fast transpose has the bits of the naive one, and writes nothing else") {
  Random random(9);
  for (int64_t rows = 0; rows <= 34; rows++) {
    for (int64_t columns : {0, 1, 5, 7, 8, 9, 16, 23}) {
      const std::vector<float> x = numbers(rows * (columns + 3), random);
      for (bool add : {false, true}) {
        std::vector<float> fast = numbers(columns * (rows + 2) + 16, random), slow = fast;
        transpose_matrix(rows, columns, x.data(), columns + 3, fast.data(), rows + 2, add);
        naive::transpose_matrix(rows, columns, x.data(), columns + 3, slow.data(), rows + 2, add);
        CAPTURE(rows, columns, add);
        REQUIRE(difference(fast, slow) == "");
      }
    }
  }
}

TEST_CASE("infinities and NaN reach the same outputs in both products, and no others") {
  Random random(3);
  for (int64_t M : {1, 6, 7, 11}) {
    for (int64_t N : {1, 7, 8, 9, 16, 19}) {
      for (int64_t K : {1, 8, 9}) {
        for (float special : {infinity, -infinity, quiet_nan}) {
          for (Lies lies : {Lies::plain, Lies::transposed}) {
            Operand a = operand(M, K, lies, random), b = operand(K, N, lies, random);
            const int64_t row = random.below(int(M)), column = random.below(int(N));
            for (int64_t k = 0; k < K; k++) {
              a.numbers[size_t(row * a.matrix.row + k * a.matrix.column)] = special;
            }
            REQUIRE(compare(M, N, K, a.matrix, b.matrix, false, random) == "");
            for (int64_t k = 0; k < K; k++) {
              b.numbers[size_t(k * b.matrix.row + column * b.matrix.column)] = special;
            }
            REQUIRE(compare(M, N, K, a.matrix, b.matrix, true, random) == "");
          }
        }
      }
    }
  }
}

namespace {

// sum, maximum and dot product of x[offset ..] by both forms.
std::string compare_rows(const std::vector<float>& x, const std::vector<float>& y, int64_t offset,
                         int64_t n) {
  const float *a = x.data() + offset, *b = y.data() + offset;
  std::string found = difference({row_sum(a, n), row_max(a, n), row_dot(a, b, n)},
                                 {naive::row_sum(a, n), naive::row_max(a, n), naive::row_dot(a, b, n)});
  return found.empty() ? "" : text("n ", n, ", offset ", offset, ": ", found);
}

std::vector<int64_t> lengths() {
  std::vector<int64_t> out;
  for (int64_t n = 0; n <= 70; n++) out.push_back(n);
  for (int64_t n : {100, 127, 128, 129, 255, 257, 1000, 4099}) out.push_back(n);
  return out;
}

}  // namespace

TEST_CASE("row_sum, row_max and row_dot have the bits of the naive ones, however the row is aligned") {
  Random random(4);
  for (int64_t n : lengths()) {
    for (int64_t offset : {0, 1, 3, 6}) {
      REQUIRE(compare_rows(numbers(n + offset, random), numbers(n + offset, random), offset, n) == "");
    }
  }
}

TEST_CASE("a NaN or an infinity anywhere in a row gives the same sum, maximum and dot product") {
  Random random(5);
  for (int64_t n = 1; n <= 70; n++) {
    for (int64_t at = 0; at < n; at++) {
      std::vector<float> x = numbers(n, random), y = numbers(n, random);
      x[size_t(at)] = quiet_nan;
      REQUIRE(std::isnan(row_max(x.data(), n)));
      REQUIRE(compare_rows(x, y, 0, n) == "");
      x[size_t(at)] = infinity;
      REQUIRE(row_max(x.data(), n) == infinity);
      REQUIRE(compare_rows(x, y, 0, n) == "");
      x[size_t(n - 1 - at)] = -infinity;
      REQUIRE(compare_rows(x, y, 0, n) == "");
    }
  }
}

TEST_CASE("rows of zeros of both signs, of equal numbers and of minus infinity agree as well") {
  Random random(6);
  for (int64_t n = 1; n <= 40; n++) {
    std::vector<float> zeros(size_t(n), -0.f);
    REQUIRE(compare_rows(zeros, zeros, 0, n) == "");
    for (float& x : zeros) x = random.below(2) ? 0.f : -0.f;
    REQUIRE(compare_rows(zeros, zeros, 0, n) == "");
    const std::vector<float> equal(size_t(n), -0.1f), lowest(size_t(n), -infinity);
    // The products underflow to -0: lanes that the rest of the row leaves free must keep theirs.
    const std::vector<float> tiny(size_t(n), 1e-30f), minus_tiny(size_t(n), -1e-30f);
    REQUIRE(compare_rows(tiny, minus_tiny, 0, n) == "");
    REQUIRE(row_max(equal.data(), n) == -0.1f);
    REQUIRE(compare_rows(equal, equal, 0, n) == "");
    REQUIRE(compare_rows(lowest, equal, 0, n) == "");
  }
}

TEST_CASE("the fast column sums have the bits of the naive ones") {
  Random random(7);
  std::vector<int64_t> columns = {130};
  for (int64_t j = 1; j <= 70; j++) columns.push_back(j);
  for (int64_t rows : {0, 1, 63, 64, 65, 200}) {
    for (int64_t n : columns) {
      std::vector<float> x = numbers(rows * n, random);
      if (rows > 1 && n % 5 == 0) x[size_t(random.below(int(rows * n)))] = quiet_nan;
      std::vector<float> fast = numbers(n, random);
      fast.insert(fast.end(), 16, sentinel);
      std::vector<float> slow = fast;
      add_column_sums(x.data(), rows, n, fast.data());
      naive::add_column_sums(x.data(), rows, n, slow.data());
      CAPTURE(rows, n);
      REQUIRE(difference(fast, slow) == "");
    }
  }
}

#endif
