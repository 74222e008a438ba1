// The check of exercise 08-merge. Expected values are written out, or come from the rules entry by entry:
// number j of a row belongs to head j / d_h, place j % d_h.
#include "catch.h"
#include "course/tested.h"

using namespace headway;

namespace {

const Tested<Tensor(const Tensor&)> merge("merge");
const Tested<Tensor(const Tensor&, const Tensor&)> mix("mix");
const Tested<Tensor(const Tensor&, const Tensor&)> moved("moved");

const std::vector<const char*> rows = {"batch", "token", "number"};
const std::vector<const char*> flags = {"batch", "token"};

// 0, 1, 2, ..
Tensor counting(const Shape& shape) {
  Tensor x = Tensor::zeros(shape);
  for (int64_t i = 0; i < x.size(); i++) x.mutable_values()[size_t(i)] = Scalar(i);
  return x;
}

// Small whole numbers in no simple order.
Tensor scrambled(const Shape& shape) {
  Tensor x = Tensor::zeros(shape);
  for (int64_t i = 0; i < x.size(); i++) x.mutable_values()[size_t(i)] = Scalar((i * i + 7 * i) % 13 - 6);
  return x;
}

// Weights that differ for every item, head and query; each row sums to 1. Causal: later keys weigh 0.
Tensor patterns(int64_t B, int64_t h, int64_t T, bool causal = false) {
  Tensor out = Tensor::zeros({B, h, T, T});  // [B, h, T, T]
  for (int64_t row = 0; row < B * h * T; row++) {
    const int64_t keys = causal ? row % T + 1 : T;
    const auto parts = [&](int64_t s) { return Scalar((row * row + 3 * row * s + s * s) % 251 + 1); };
    Scalar total = 0;
    for (int64_t s = 0; s < keys; s++) total += parts(s);
    for (int64_t s = 0; s < keys; s++) out.mutable_values()[size_t(row * T + s)] = parts(s) / total;
  }
  return out;
}

Tensor side_by_side(const Tensor& z) {
  const int64_t B = z.dim(0), h = z.dim(1), T = z.dim(2), d_h = z.dim(3), D = h * d_h;
  Tensor out = Tensor::zeros({B, T, D});  // [B, T, D]
  for (int64_t i = 0; i < B * T * D; i++) {
    const int64_t b = i / (T * D), t = i / D % T, j = i % D;
    out.mutable_values()[size_t(i)] = z.at({b, j / d_h, t, j % d_h});
  }
  return out;
}

Tensor mixed(const Tensor& x, const Tensor& pattern) {
  const int64_t B = x.dim(0), T = x.dim(1), D = x.dim(2), d_h = D / pattern.dim(1);
  Tensor out = Tensor::zeros({B, T, D});  // [B, T, D]
  for (int64_t i = 0; i < B * T * D; i++) {
    const int64_t b = i / (T * D), t = i / D % T, j = i % D;
    for (int64_t s = 0; s < T; s++) {
      out.mutable_values()[size_t(i)] += pattern.at({b, j / d_h, t, s}) * x.at({b, s, j});
    }
  }
  return out;
}

}  // namespace

TEST_CASE("merge: the twelve numbers of the README, two heads", "[merge-by-hand][points:1]") {
  const Tensor z = Tensor::from({1, 2, 3, 2}, {0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11});  // [B, h, T, d_h]
  expect_equal(merge(z), counting({1, 3, 4}), rows);
}

TEST_CASE("merge: two items of five tokens, three heads of four numbers", "[three-heads][points:1]") {
  const Tensor z = counting({2, 3, 5, 4});  // [B, h, T, d_h]
  expect_equal(merge(z), side_by_side(z), rows);
}

TEST_CASE("merge: as many items as heads, one head alone, and one token", "[merge-extremes][points:1]") {
  for (const Shape& shape : std::vector<Shape>{{3, 3, 5, 4}, {2, 1, 5, 4}, {2, 3, 1, 4}}) {
    const Tensor z = counting(shape);  // [B, h, T, d_h]
    expect_equal(merge(z), side_by_side(z), rows);
  }
}

TEST_CASE("mix: head 0 reads one token back, head 1 reads its own token", "[mix-by-hand][points:1]") {
  const Tensor pattern = Tensor::from({1, 2, 3, 3}, {1, 0, 0, 1, 0, 0, 0, 1, 0,             // head 0
                                                     1, 0, 0, 0, 1, 0, 0, 0, 1});           // [B, h, T, T]
  const Tensor expected = Tensor::from({1, 3, 4}, {0, 1, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11});  // [B, T, D]
  expect_equal(mix(counting({1, 3, 4}), pattern), expected, rows);
}

TEST_CASE("mix: two items, three heads, a pattern for each", "[mix-patterns][points:2]") {
  const Tensor x = scrambled({2, 5, 12}), pattern = patterns(2, 3, 5);  // [B, T, D], [B, h, T, T]
  expect_equal(mix(x, pattern), mixed(x, pattern), rows);
}

TEST_CASE("mix: as many items as heads; one head; one head for each number", "[mix-extremes][points:1]") {
  for (const int64_t h : {4, 1, 12}) {
    const Tensor x = scrambled({4, 5, 12}), pattern = patterns(4, h, 5);  // [B, T, D], [B, h, T, T]
    expect_equal(mix(x, pattern), mixed(x, pattern), rows);
  }
}

TEST_CASE("moved: five tokens, three of them changed", "[moved-by-hand][points:1]") {
  const Tensor before = counting({1, 5, 3});  // [B, T, D]
  const Tensor after =
      Tensor::from({1, 5, 3}, {0, 1, 2, 5, 8, 5, 6, 7, 3, 9, 10, 11, 12, 15, 14});  // [B, T, D]
  expect_equal(moved(before, after), Tensor::from({1, 5}, {0, 1, 1, 0, 1}), flags);
}

TEST_CASE("moved: changes that add up to nothing, and a change of one part in a million",
          "[moved-any][points:1]") {
  const Tensor before = Tensor::full({1, 4, 3}, 1);                                      // [B, T, D]
  const Tensor cancel = Tensor::from({1, 4, 3}, {1, 1, 1, 3, 1, -1, 1, 1, 1, 0, 0, 3});  // [B, T, D]
  const Scalar nearly = 1 + Scalar(0x1p-20);
  const Tensor tiny = Tensor::from({1, 4, 3}, {1, nearly, 1, 2, 1, 1, 1, 1, 1, 1, 1, 2});  // [B, T, D]
  expect_equal(moved(before, cancel), Tensor::from({1, 4}, {0, 1, 0, 1}), flags);
  expect_equal(moved(before, tiny), Tensor::from({1, 4}, {1, 1, 0, 1}), flags);
}

TEST_CASE("moved: a causal mix before and after token 2 of item 1 is changed", "[moved-causal][points:1]") {
  const Tensor before = scrambled({2, 5, 12}), pattern = patterns(2, 3, 5, true);  // [B, T, D], [B, h, T, T]
  Tensor after = scrambled({2, 5, 12});                                            // [B, T, D]
  for (int64_t j = 0; j < 12; j++) after.mutable_values()[size_t((5 + 2) * 12 + j)] += 1;
  const Tensor expected = Tensor::from({2, 5}, {0, 0, 0, 0, 0, 0, 0, 1, 1, 1});  // [B, T]
  expect_equal(moved(mixed(before, pattern), mixed(after, pattern)), expected, flags);
}
