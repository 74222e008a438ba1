// The kernels: the three written orders of summation, then src/fast against the naive loops, bit for bit.
#include "core/kernels.h"

#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "catch.h"
#include "core/error.h"
#include "core/random.h"

using namespace headway;

namespace {

constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
constexpr Scalar big = 2 / epsilon;  // the first power of two with big + 1 == big

}  // namespace

TEST_CASE("a matrix product is one chain of fma per output, k ascending from 0") {
  const Scalar ones[] = {1, 1, 1}, a[] = {1, big, -big}, reversed[] = {-big, big, 1};
  for (auto product : {matrix_product, naive::matrix_product}) {
    Scalar c = 7;
    product(1, 1, 3, {a, 3, 1}, {ones, 1, 1}, &c, false);
    CHECK(c == 0);  // 1 + big is big
    product(1, 1, 3, {reversed, 3, 1}, {ones, 1, 1}, &c, false);
    CHECK(c == 1);

    // (1 + d)^2 - (1 + 2 d) = d^2, which only a product that is not rounded keeps.
    const Scalar d = sizeof(Scalar) == 8 ? std::ldexp(Scalar(1), -27) : std::ldexp(Scalar(1), -12);
    const Scalar left[] = {-(1 + 2 * d), 1 + d}, right[] = {1, 1 + d};
    product(1, 1, 2, {left, 2, 1}, {right, 1, 1}, &c, false);
    CHECK(c == d * d);

    c = big;  // the finished product 2 is added: 1 and 1, added one by one, would both be lost
    product(1, 1, 2, {ones, 2, 1}, {ones, 1, 1}, &c, true);
    CHECK(c == big + 2);
  }
}

TEST_CASE("a row is summed in 8 lanes and the fixed tree") {
  // Lane j takes elements j, j + 8, ...; then ((l0+l4) + (l2+l6)) + ((l1+l5) + (l3+l7)).
  const std::vector<std::vector<Scalar>> rows = {
      {big, 0, -big, 0, 1, 0, 1, 0},         // (big + 1) + (-big + 1) = 0 + 1
      {0, big, 0, -big, 0, 1, 0, 1},         // the same on the odd lanes
      {big, 1, 0, 1, 0, 0, 0, -big},         // big + (1 + (1 - big)) = big + (2 - big)
      {big, 0, 0, 0, 0, 0, 0, 0, -big, 1},   // big - big within lane 0, then + 1
      {1, big, 0, 0, 0, 0, 0, 0, 1, -big},   // 1 + 1 within lane 0, big - big within lane 1
      {big, -big, 1, 1, 1, 1, 1, 1, 1, 1}};  // lane 0 loses its 1: (big + 2) + (4 - big)
  const std::vector<Scalar> sums = {1, 1, 2, 1, 2, 6};
  for (size_t r = 0; r < rows.size(); r++) {
    const std::vector<Scalar>& x = rows[r];
    const int64_t n = int64_t(x.size());
    const std::vector<Scalar> ones(x.size(), Scalar(1));
    Scalar l[8] = {};
    for (size_t i = 0; i < x.size(); i++) l[i % 8] += x[i];
    const Scalar tree = ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
    CAPTURE(r);
    CHECK(tree == sums[r]);
    CHECK(row_sum(x.data(), n) == tree);
    CHECK(naive::row_sum(x.data(), n) == tree);
    CHECK(row_dot(x.data(), ones.data(), n) == tree);
    CHECK(naive::row_dot(x.data(), ones.data(), n) == tree);
  }
}

TEST_CASE("a row of nothing has sum 0 and maximum minus infinity") {
  const Scalar x = 5;
  CHECK(row_sum(&x, 0) == 0);
  CHECK(row_dot(&x, &x, 0) == 0);
  CHECK(row_max(&x, 0) == -std::numeric_limits<Scalar>::infinity());
}

TEST_CASE("column sums go in chunks of 64 rows, and the finished sum is added") {
  std::vector<Scalar> x(200, Scalar(0));
  x[0] = big, x[64] = 1, x[65] = 1;  // in order the ones would be lost; as a chunk of their own they are 2
  Scalar fast = 0, slow = 0;
  add_column_sums(x.data(), 200, 1, &fast);
  naive::add_column_sums(x.data(), 200, 1, &slow);
  CHECK(fast == big + 2);
  CHECK(slow == big + 2);

  x[64] = 0, x[63] = 1, x[65] = 1;  // now the first stands in the chunk of big, and is lost
  fast = slow = 0;
  add_column_sums(x.data(), 200, 1, &fast);
  naive::add_column_sums(x.data(), 200, 1, &slow);
  CHECK(fast == big);
  CHECK(slow == big);

  const Scalar ones[] = {1, 1};
  fast = slow = big;
  add_column_sums(ones, 2, 1, &fast);
  naive::add_column_sums(ones, 2, 1, &slow);
  CHECK(fast == big + 2);
  CHECK(slow == big + 2);
}

#ifndef SCALAR_DOUBLE

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
