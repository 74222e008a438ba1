#include "catch.h"
#include "core/ops.h"
#include "heads/rank.h"

using namespace headway;

TEST_CASE("the singular values of a diagonal matrix are its entries without signs, in order") {
  const Tensor d = Tensor::from({3, 3}, {2, 0, 0, 0, -5, 0, 0, 0, 3});
  const std::vector<double> values = singular_values(d);
  CHECK(values[0] == Approx(5));
  CHECK(values[1] == Approx(3));
  CHECK(values[2] == Approx(2));
}

TEST_CASE("the singular values of [[3, 0], [4, 5]] are sqrt 45 and sqrt 5") {
  const std::vector<double> values = singular_values(Tensor::from({2, 2}, {3, 0, 4, 5}));
  CHECK(values[0] == Approx(6.708203932));
  CHECK(values[1] == Approx(2.236067977));
}

TEST_CASE("a product of a [9, 3] and a [3, 9] matrix has rank 3") {
  Random random(3);
  const Tensor a = Tensor::uniform({9, 3}, -1, 1, random), b = Tensor::uniform({3, 9}, -1, 1, random);
  CHECK(numerical_rank(matmul(a, b)) == 3);
  CHECK(numerical_rank(Tensor::uniform({9, 9}, -1, 1, random)) == 9);
  CHECK(numerical_rank(Tensor::zeros({4, 4})) == 0);
}

TEST_CASE("singular_values refuses what is not a square") {
  try {
    singular_values(Tensor::zeros({2, 3}).named("scores"));
    FAIL("not refused");
  } catch (const ShapeError& error) {
    CHECK(std::string(error.what()) == "singular_values: this is not a square matrix\n"
                                       "  matrix = scores  [2, 3]\n"
                                       "  rule: the matrix is [n, n], such as the scores of one head");
  }
}
