// The check of exercise 06-split. Expected values come from the rule itself, entry by entry: number j of a
// token goes to head j / d_h, place j % d_h.
#include "catch.h"
#include "course/tested.h"

using namespace headway;

namespace {

const Tested<Tensor(const Tensor&, int64_t)> split("split");
const Tested<Tensor(const Tensor&, const Tensor&, int64_t, int64_t)> project_and_split("project_and_split");

const std::vector<const char*> axes = {"batch", "head", "token", "number"};

// 0, 1, 2, ..
Tensor counting(const Shape& shape) {
  Tensor x = Tensor::zeros(shape);
  for (int64_t i = 0; i < x.size(); i++) x.mutable_values()[size_t(i)] = Scalar(i);
  return x;
}

// Small whole numbers, none of them in a pattern.
Tensor scrambled(const Shape& shape, int64_t step) {
  Tensor x = Tensor::zeros(shape);
  for (int64_t i = 0; i < x.size(); i++) x.mutable_values()[size_t(i)] = Scalar((i * step + 5) % 13 - 6);
  return x;
}

// Columns first .. first + width - 1 of rows [B, T, any], as heads.
Tensor heads_of(const Tensor& rows, int64_t first, int64_t width, int64_t h) {
  const int64_t B = rows.dim(0), T = rows.dim(1), d_h = width / h;
  Tensor out = Tensor::zeros({B, h, T, d_h});  // [B, h, T, d_h]
  for (int64_t b = 0; b < B; b++) {
    for (int64_t t = 0; t < T; t++) {
      for (int64_t j = 0; j < width; j++) {
        const int64_t to = ((b * h + j / d_h) * T + t) * d_h + j % d_h;
        out.mutable_values()[size_t(to)] = rows.at({b, t, first + j});
      }
    }
  }
  return out;
}

// x W, in plain loops.
Tensor product(const Tensor& x, const Tensor& W) {
  const int64_t B = x.dim(0), T = x.dim(1), D = x.dim(2), E = W.dim(1);
  Tensor out = Tensor::zeros({B, T, E});  // [B, T, E]
  for (int64_t i = 0; i < B * T * E; i++) {
    for (int64_t d = 0; d < D; d++) {
      out.mutable_values()[size_t(i)] += x.data()[i / E * D + d] * W.at({d, i % E});
    }
  }
  return out;
}

}  // namespace

TEST_CASE("split: the twelve numbers of the README, two heads", "[by-hand][points:2]") {
  const Tensor expected =
      Tensor::from({1, 2, 3, 2}, {0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11});  // [B, h, T, d_h]
  expect_equal(split(counting({1, 3, 4}), 2), expected, axes);
}

TEST_CASE("split: two items of five tokens, three heads of four numbers", "[three-heads][points:2]") {
  const Tensor x = counting({2, 5, 12});  // [B, T, D]
  expect_equal(split(x, 3), heads_of(x, 0, 12, 3), axes);
}

TEST_CASE("split: one head has whole tokens, twelve heads have one number each", "[extremes][points:1]") {
  const Tensor x = counting({2, 5, 12});  // [B, T, D]
  expect_equal(split(x, 1), heads_of(x, 0, 12, 1), axes);
  expect_equal(split(x, 12), heads_of(x, 0, 12, 12), axes);
}

TEST_CASE("split: 3 heads take 9 numbers and refuse 10; 16 heads refuse 8", "[refusal][points:1]") {
  const Tensor fits = counting({2, 5, 9});  // [B, T, D]
  expect_equal(split(fits, 3), heads_of(fits, 0, 9, 3), axes);
  expect_refused([] { split(counting({2, 5, 10}), 3); }, "3 heads do not divide 10 numbers");
  expect_refused([] { split(counting({2, 5, 8}), 16); }, "16 heads are more than 8 numbers");
}

TEST_CASE("project_and_split: q is the first third of the columns, every head reads the whole token",
          "[project-q][points:2]") {
  const Tensor x = scrambled({2, 5, 6}, 7), W = scrambled({6, 36}, 4);  // [B, T, D], [D, 3 E]
  expect_equal(project_and_split(x, W, 3, 0), heads_of(product(x, W), 0, 12, 3), axes);
}

TEST_CASE("project_and_split: k and v are the other two thirds; four heads", "[project-kv][points:2]") {
  const Tensor x = scrambled({2, 5, 6}, 7), W = scrambled({6, 36}, 4);  // [B, T, D], [D, 3 E]
  expect_equal(project_and_split(x, W, 4, 1), heads_of(product(x, W), 12, 12, 4), axes);
  expect_equal(project_and_split(x, W, 4, 2), heads_of(product(x, W), 24, 12, 4), axes);
}
