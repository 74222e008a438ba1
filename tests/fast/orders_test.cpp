// The three written orders of summation, on numbers that tell them apart. Both forms of every kernel keep
// them.
#include "core/kernels.h"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.h"

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
