// What each op computes, by hand, on small numbers. Shapes alone prove nothing: a wrong head split has the
// right shape.
#include <cmath>
#include <cstring>
#include <limits>

#include "catch.h"
#include "core/node.h"
#include "core/ops.h"

using namespace headway;

namespace {

constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
constexpr Scalar not_a_number = std::numeric_limits<Scalar>::quiet_NaN();

// 0, 1, 2, ... in this shape.
Tensor counting(const Shape& shape) {
  Tensor t = Tensor::zeros(shape);
  Scalar next = 0;
  for (Scalar& x : t.mutable_values()) x = next++;
  return t;
}

Tensor random_numbers(const Shape& shape, uint64_t seed) {
  Random random(seed);
  return Tensor::uniform(shape, -2, 2, random);
}

// The numbers of t, which must be these to the last bit. NaN equals NaN.
void check_exactly(const Tensor& t, const Shape& shape, const std::vector<Scalar>& expected) {
  CHECK(t.shape() == shape);
  REQUIRE(t.size() == int64_t(expected.size()));
  for (size_t i = 0; i < expected.size(); i++) {
    CAPTURE(i, t.data()[i], expected[i]);
    CHECK((t.data()[i] == expected[i] || (std::isnan(t.data()[i]) && std::isnan(expected[i]))));
  }
}

// The same up to rounding: expected numbers carry six digits.
void check_closely(const Tensor& t, const Shape& shape, const std::vector<double>& expected) {
  CHECK(t.shape() == shape);
  REQUIRE(t.size() == int64_t(expected.size()));
  for (size_t i = 0; i < expected.size(); i++) {
    CAPTURE(i);
    CHECK(t.data()[i] == Approx(expected[i]).epsilon(1e-6).margin(6e-7));
  }
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), size_t(a.size()) * sizeof(Scalar)) == 0;
}

}  // namespace

// ---- element by element

TEST_CASE("add, sub, mul and div work number by number") {
  const Tensor a = Tensor::from({2, 2}, {1, -2, 3, 8}), b = Tensor::from({2, 2}, {4, 2, -1, 16});
  check_exactly(a + b, {2, 2}, {5, 0, 2, 24});
  check_exactly(a - b, {2, 2}, {-3, -4, 4, -8});
  check_exactly(a * b, {2, 2}, {4, -4, -3, 128});
  check_exactly(a / b, {2, 2}, {Scalar(0.25), -1, -3, Scalar(0.5)});
}

TEST_CASE("a size of 1 and a missing axis are repeated, on either side") {
  const Tensor x = counting({2, 3});
  check_exactly(x + Tensor::from({3}, {10, 20, 30}), {2, 3}, {10, 21, 32, 13, 24, 35});
  check_exactly(Tensor::from({1, 3}, {10, 20, 30}) - x, {2, 3}, {10, 19, 28, 7, 16, 25});
  check_exactly(x * Tensor::from({2, 1}, {2, -1}), {2, 3}, {0, 2, 4, -3, -4, -5});
  check_exactly(x + Tensor::full({}, 7), {2, 3}, {7, 8, 9, 10, 11, 12});
  check_exactly(Tensor::full({}, 12) / Tensor::from({3}, {1, 2, 3}), {3}, {12, 6, 4});
  check_exactly(Tensor::from({2, 1}, {1, 2}) * Tensor::from({3}, {3, 4, 5}), {2, 3}, {3, 4, 5, 6, 8, 10});
  check_exactly(Tensor::from({1, 1}, {1}) + Tensor::from({1}, {2}), {1, 1}, {3});
}

TEST_CASE("broadcasting agrees with reading every operand by its index") {
  const Tensor a = random_numbers({2, 1, 3, 1, 4}, 1), b = random_numbers({5, 1, 2, 4}, 2);
  const Tensor y = a - b;  // [2, 5, 3, 2, 4]
  REQUIRE(y.shape() == Shape{2, 5, 3, 2, 4});
  for (int64_t i = 0; i < 2; i++)
    for (int64_t j = 0; j < 5; j++)
      for (int64_t k = 0; k < 3; k++)
        for (int64_t l = 0; l < 2; l++)
          for (int64_t m = 0; m < 4; m++) {
            REQUIRE(y.at({i, j, k, l, m}) == a.at({i, 0, k, 0, m}) - b.at({j, 0, l, m}));
          }
}

TEST_CASE("functions of one number have the values of the textbook") {
  const Tensor x = Tensor::from({4}, {-1, 0, 1, 2});
  check_exactly(scale(x, 3), {4}, {-3, 0, 3, 6});
  check_exactly(neg(x), {4}, {1, 0, -1, -2});
  check_exactly(relu(x), {4}, {0, 0, 1, 2});
  check_closely(exp(x), {4}, {0.36787944, 1, 2.71828183, 7.38905610});
  check_closely(tanh(x), {4}, {-0.76159416, 0, 0.76159416, 0.96402758});
  check_closely(sigmoid(x), {4}, {0.26894142, 0.5, 0.73105858, 0.88079708});
  check_closely(gelu_erf(x), {4}, {-0.15865525, 0, 0.84134475, 1.95449974});
  check_closely(gelu_tanh(x), {4}, {-0.15880801, 0, 0.84119199, 1.95459769});
  check_closely(log(Tensor::from({3}, {1, 2, Scalar(0.5)})), {3}, {0, 0.69314718, -0.69314718});
  check_exactly(sqrt(Tensor::from({3}, {0, 4, Scalar(2.25)})), {3}, {0, 2, Scalar(1.5)});
}

TEST_CASE("pow multiplies for whole exponents, also of negative numbers") {
  const Tensor x = Tensor::from({4}, {-2, 0, 1, 4});
  check_exactly(pow(x, 0), {4}, {1, 1, 1, 1});
  check_exactly(pow(x, 1), {4}, {-2, 0, 1, 4});
  check_exactly(pow(x, 3), {4}, {-8, 0, 1, 64});
  check_exactly(pow(x, -1), {4}, {Scalar(-0.5), infinity, 1, Scalar(0.25)});
  check_exactly(pow(x, -2), {4}, {Scalar(0.25), infinity, 1, Scalar(0.0625)});
  check_closely(pow(Tensor::from({2}, {4, 9}), Scalar(1.5)), {2}, {8, 27});
  check_closely(pow(Tensor::from({2}, {4, 9}), Scalar(-0.5)), {2}, {0.5, 1.0 / 3});
  CHECK(std::isnan(pow(x, Scalar(0.5)).at({0})));  // a root of a negative number
  CHECK(pow(x, Scalar(0.5)).at({1}) == 0);
}

TEST_CASE("at the edges of their range functions go to their limits, and NaN stays NaN") {
  const Tensor x = Tensor::from({3}, {-infinity, infinity, not_a_number});
  check_exactly(exp(x), {3}, {0, infinity, not_a_number});
  check_exactly(tanh(x), {3}, {-1, 1, not_a_number});
  check_exactly(sigmoid(x), {3}, {0, 1, not_a_number});
  check_exactly(relu(x), {3}, {0, infinity, not_a_number});
  check_exactly(log(Tensor::from({3}, {0, -1, infinity})), {3}, {-infinity, not_a_number, infinity});
  check_exactly(sqrt(Tensor::from({2}, {-1, infinity})), {2}, {not_a_number, infinity});
  check_exactly(sigmoid(Tensor::from({2}, {-1000, 1000})), {2}, {0, 1});
  check_exactly(gelu_tanh(Tensor::from({2}, {-1000, 1000})), {2}, {0, 1000});
  check_exactly(gelu_erf(Tensor::from({2}, {-1000, 1000})), {2}, {0, 1000});
}

// ---- shape

TEST_CASE("reshape keeps the order of the numbers") {
  check_exactly(reshape(counting({2, 3}), {3, 2}), {3, 2}, {0, 1, 2, 3, 4, 5});
  check_exactly(reshape(counting({2, 3}), {-1}), {6}, {0, 1, 2, 3, 4, 5});
  check_exactly(reshape(counting({2, 3}), {1, -1, 2}), {1, 3, 2}, {0, 1, 2, 3, 4, 5});
  check_exactly(reshape(Tensor::full({1, 1}, 7), {}), {}, {7});
}

TEST_CASE("permute moves numbers: axis i of the result is axis axes[i] of x") {
  check_exactly(permute(counting({2, 3}), {1, 0}), {3, 2}, {0, 3, 1, 4, 2, 5});
  check_exactly(permute(counting({2, 3}), {0, 1}), {2, 3}, {0, 1, 2, 3, 4, 5});
  check_exactly(permute(Tensor::full({}, 7), {}), {}, {7});
  const Tensor x = counting({2, 3, 4});
  const Tensor y = permute(x, {2, 0, 1});  // [4, 2, 3]
  REQUIRE(y.shape() == Shape{4, 2, 3});
  for (int64_t i = 0; i < 2; i++)
    for (int64_t j = 0; j < 3; j++)
      for (int64_t k = 0; k < 4; k++) CHECK(y.at({k, i, j}) == x.at({i, j, k}));
}

TEST_CASE("negative axes count from the end") {
  check_exactly(permute(counting({2, 3}), {-1, -2}), {3, 2}, {0, 3, 1, 4, 2, 5});
  CHECK(same_bits(permute(counting({2, 3, 4}), {-1, 0, -2}), permute(counting({2, 3, 4}), {2, 0, 1})));
  CHECK(same_bits(sum(counting({2, 3, 4}), {-2}), sum(counting({2, 3, 4}), {1})));
  CHECK(same_bits(slice(counting({2, 3}), -1, 1, 3), slice(counting({2, 3}), 1, 1, 3)));
}

TEST_CASE("a transposed tensor reshaped gives its rows, not the memory of the original") {
  const Tensor x = counting({2, 3});
  check_exactly(reshape(transpose(x), {6}), {6}, {0, 3, 1, 4, 2, 5});
  check_exactly(transpose(counting({2, 1, 3})), {2, 3, 1}, {0, 1, 2, 3, 4, 5});
  CHECK(same_bits(transpose(transpose(x)), x));
}

TEST_CASE("heads are split by reshape and permute together, and merged the same way") {
  const Tensor x = counting({1, 3, 4});                                  // [B, T, D]
  const Tensor heads = permute(reshape(x, {1, 3, 2, 2}), {0, 2, 1, 3});  // [B, h, T, d_h]
  check_exactly(heads, {1, 2, 3, 2}, {0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11});
  const Tensor merged = reshape(permute(heads, {0, 2, 1, 3}), {1, 3, 4});  // [B, T, D]
  CHECK(same_bits(merged, x));
}

TEST_CASE("changing one token changes exactly its row in every head") {
  Tensor x = counting({1, 3, 4});                                         // [B, T, D]
  const Tensor before = permute(reshape(x, {1, 3, 2, 2}), {0, 2, 1, 3});  // [B, h, T, d_h]
  Tensor changed = counting({1, 3, 4});                                   // [B, T, D]
  for (size_t i = 8; i < 12; i++) changed.mutable_values()[i] += 100;
  const Tensor after = permute(reshape(changed, {1, 3, 2, 2}), {0, 2, 1, 3});  // [B, h, T, d_h]
  for (int64_t h = 0; h < 2; h++)
    for (int64_t t = 0; t < 3; t++)
      for (int64_t j = 0; j < 2; j++) {
        CHECK(after.at({0, h, t, j}) - before.at({0, h, t, j}) == (t == 2 ? 100 : 0));
      }
}

TEST_CASE("concat puts parts side by side on one axis, slice takes them apart again") {
  const Tensor a = counting({2, 2}), b = scale(counting({2, 3}), 10);  // [2, 2], [2, 3]
  check_exactly(concat({a, b}, 1), {2, 5}, {0, 1, 0, 10, 20, 2, 3, 30, 40, 50});
  check_exactly(concat({a, a}, 0), {4, 2}, {0, 1, 2, 3, 0, 1, 2, 3});
  check_exactly(concat({a}, 0), {2, 2}, {0, 1, 2, 3});
  const Tensor both = concat({a, b}, -1);  // [2, 5]
  CHECK(same_bits(slice(both, 1, 0, 2), a));
  CHECK(same_bits(slice(both, 1, 2, 5), b));
  check_exactly(slice(counting({3, 2}), 0, 1, 3), {2, 2}, {2, 3, 4, 5});
  check_exactly(slice(counting({2, 3, 2}), 1, 1, 2), {2, 1, 2}, {2, 3, 8, 9});
  check_exactly(concat({counting({2, 1, 2}), counting({2, 2, 2})}, 1), {2, 3, 2},
                {0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 6, 7});
}

// ---- products and sums

TEST_CASE("matmul sums over the inner dimension") {
  const Tensor a = counting({2, 3}), b = counting({3, 2});
  check_exactly(matmul(a, b), {2, 2}, {10, 13, 28, 40});
  check_exactly(matmul(b, a), {3, 3}, {3, 4, 5, 9, 14, 19, 15, 24, 33});
  check_exactly(matmul(Tensor::from({1, 1}, {3}), Tensor::from({1, 1}, {5})), {1, 1}, {15});
}

TEST_CASE("linear has the bits of a product plus a bias, and so have its gradients") {
  Random random(12);
  for (const Shape& shape : {Shape{1, 7}, Shape{70, 7}, Shape{3, 50, 7}}) {
    const Tensor x = Tensor::uniform(shape, -1, 1, random), w = Tensor::uniform({7, 19}, -1, 1, random),
                 b = Tensor::uniform({19}, -1, 1, random);
    std::vector<Tensor> results[2];
    for (bool fused : {false, true}) {
      const Tensor xg = x.requires_grad(), wg = w.requires_grad(), bg = b.requires_grad();
      const Tensor y = fused ? linear(xg, wg, bg) : matmul(xg, wg) + bg;
      sum(y * y).backward();
      results[fused] = {y, xg.grad(), wg.grad(), bg.grad()};
    }
    for (size_t i = 0; i < 4; i++) {
      const Tensor &a = results[0][i], &c = results[1][i];
      REQUIRE(a.shape() == c.shape());
      REQUIRE(std::equal(a.values().begin(), a.values().end(), c.values().begin()));
    }
  }
}

TEST_CASE("leading axes of matmul broadcast, and each product is that of its matrices alone") {
  const std::vector<std::vector<Shape>> cases = {
      {{2, 3, 4, 5}, {2, 3, 5, 6}}, {{2, 1, 4, 5}, {3, 5, 6}},    {{3, 4, 5}, {2, 3, 5, 6}},
      {{2, 3, 4, 5}, {5, 6}},       {{4, 5}, {2, 3, 5, 6}},       {{2, 3, 4, 5}, {1, 1, 5, 6}},
      {{1, 4, 5}, {2, 3, 5, 6}},    {{2, 1, 4, 5}, {1, 3, 5, 6}}, {{2, 3, 1, 5}, {5, 6}},
  };
  for (const auto& shapes : cases) {
    const Tensor a = random_numbers(shapes[0], 1), b = random_numbers(shapes[1], 2);
    const Tensor y = matmul(a, b);  // [2, 3, M, 6]
    const int64_t M = a.dim(-2);
    CAPTURE(to_text(a.shape()), to_text(b.shape()));
    REQUIRE(y.shape() == Shape{2, 3, M, 6});
    // The leading axes of both, brought to [2, 3] by broadcasting a sum with zeros.
    const Tensor full_a = a + Tensor::zeros({2, 3, M, 5}), full_b = b + Tensor::zeros({2, 3, 5, 6});
    for (int64_t i = 0; i < 2; i++)
      for (int64_t j = 0; j < 3; j++)
        for (int64_t m = 0; m < M; m++)
          for (int64_t n = 0; n < 6; n++) {
            Scalar dot = 0;
            for (int64_t k = 0; k < 5; k++) {
              dot = headway::fma(full_a.at({i, j, m, k}), full_b.at({i, j, k, n}), dot);
            }
            REQUIRE(y.at({i, j, m, n}) == dot);
          }
  }
}

TEST_CASE("sums and means go over the axes that are named") {
  const Tensor x = counting({2, 3, 2});
  check_exactly(sum(x), {}, {66});
  check_exactly(sum(x, {0}), {3, 2}, {6, 8, 10, 12, 14, 16});
  check_exactly(sum(x, {1}), {2, 2}, {6, 9, 24, 27});
  check_exactly(sum(x, {2}), {2, 3}, {1, 5, 9, 13, 17, 21});
  check_exactly(sum(x, {0, 2}), {3}, {14, 22, 30});
  check_exactly(sum(x, {2, 1}), {2}, {15, 51});
  check_exactly(sum(x, {0, 1, 2}), {}, {66});
  check_exactly(sum(x, {1}, true), {2, 1, 2}, {6, 9, 24, 27});
  check_exactly(sum(x, {}, true), {1, 1, 1}, {66});
  check_exactly(mean(x), {}, {Scalar(5.5)});
  check_exactly(mean(x, {0}), {3, 2}, {3, 4, 5, 6, 7, 8});
  check_exactly(mean(x, {1, 2}), {2}, {Scalar(2.5), Scalar(8.5)});
  check_exactly(mean(x, {-3}, true), {1, 3, 2}, {3, 4, 5, 6, 7, 8});
  check_exactly(sum(Tensor::full({}, 7)), {}, {7});
}

TEST_CASE("long sums over rows and columns find every number") {
  const Tensor x = counting({130, 67});
  const Tensor over_rows = sum(x, {0}), over_columns = sum(x, {1});  // [67], [130]
  for (int64_t j = 0; j < 67; j++) CHECK(over_rows.at({j}) == Scalar(67 * 129 * 130 / 2 + 130 * j));
  for (int64_t i = 0; i < 130; i++) CHECK(over_columns.at({i}) == Scalar(67 * 67 * i + 66 * 67 / 2));
}

// ---- softmax

TEST_CASE("softmax goes along the last axis") {
  const Tensor y = softmax(Tensor::from({2, 2}, {1, 2, 3, 5}));  // [2, 2]
  check_closely(y, {2, 2}, {0.268941, 0.731059, 0.119203, 0.880797});
  check_closely(softmax(Tensor::from({1, 2}, {8 / std::sqrt(Scalar(8)), 0})), {1, 2}, {0.944193, 0.055807});
}

TEST_CASE("softmax does not overflow, and a constant added to a row changes nothing") {
  check_closely(softmax(Tensor::from({2}, {1000, 1001})), {2}, {0.268941, 0.731059});
  check_closely(softmax(Tensor::from({2}, {-1001, -1000})), {2}, {0.268941, 0.731059});
  check_exactly(softmax(Tensor::from({3}, {-1000, 0, -1000})), {3}, {0, 1, 0});
}

TEST_CASE("in softmax -inf is a weight of 0, a row of -inf is all 0, and NaN stays NaN") {
  const Scalar half = Scalar(0.5);
  check_exactly(softmax(Tensor::from({3}, {1, -infinity, 1})), {3}, {half, 0, half});
  check_exactly(softmax(Tensor::from({3}, {-infinity, 5, -infinity})), {3}, {0, 1, 0});
  check_exactly(softmax(Tensor::full({2, 3}, -infinity)), {2, 3}, {0, 0, 0, 0, 0, 0});
  check_exactly(softmax(Tensor::from({2, 2}, {1, not_a_number, 1, 1})), {2, 2},
                {not_a_number, not_a_number, half, half});
  for (Scalar other : {-infinity, Scalar(1)}) {  // at every place of a row, beside nothing as well
    for (size_t i = 0; i < 11; i++) {
      Tensor x = Tensor::full({11}, other);  // [11]
      x.mutable_values()[i] = not_a_number;
      check_exactly(softmax(x), {11}, std::vector<Scalar>(11, not_a_number));
    }
  }
}

TEST_CASE("a causal mask lets query t see keys 0 to t, true meaning allowed") {
  const Tensor scores = Tensor::zeros({3, 3});
  const Scalar half = Scalar(0.5), third = 1 / Scalar(3);
  check_exactly(softmax(scores, Allow::causal(3, 3, 0)), {3, 3},
                {1, 0, 0, half, half, 0, third, third, third});
}

TEST_CASE("with past keys the causal mask stands at the lower right") {
  const Scalar fifth = Scalar(0.2), quarter = Scalar(0.25);
  check_exactly(softmax(Tensor::zeros({1, 5}), Allow::causal(1, 5, 4)), {1, 5},
                {fifth, fifth, fifth, fifth, fifth});
  check_exactly(softmax(Tensor::zeros({2, 5}), Allow::causal(2, 5, 3)), {2, 5},
                {quarter, quarter, quarter, quarter, 0, fifth, fifth, fifth, fifth, fifth});
  const Tensor later =
      softmax(Tensor::zeros({2, 6}), Allow::causal(2, 6, 3));  // [2, 6], the last key is later
  check_exactly(slice(later, 1, 4, 6), {2, 2}, {0, 0, fifth, 0});
}

TEST_CASE("a blocked key gets no weight, whatever stands there") {
  const Allow first_two({1, 3}, {1, 1, 0});
  const Scalar half = Scalar(0.5);
  check_exactly(softmax(Tensor::zeros({1, 3}), first_two), {1, 3}, {half, half, 0});
  check_closely(softmax(Tensor::from({1, 3}, {1, 2, 3}), first_two), {1, 3}, {0.268941, 0.731059, 0});
  for (Scalar v : {infinity, -infinity, not_a_number, Scalar(1e30)}) {
    check_exactly(softmax(Tensor::from({1, 3}, {0, 0, v}), first_two), {1, 3}, {half, half, 0});
  }
  check_exactly(softmax(Tensor::zeros({1, 2}), Allow({1, 2}, {1, 0})), {1, 2}, {1, 0});
}

TEST_CASE("padding is laid over keys: its columns are 0 in every row") {
  const std::vector<int> lengths = {2};
  const Scalar half = Scalar(0.5);
  check_exactly(softmax(Tensor::zeros({1, 1, 3, 4}), Allow::lengths(lengths, 4)), {1, 1, 3, 4},
                {half, half, 0, 0, half, half, 0, 0, half, half, 0, 0});
}

TEST_CASE("an item with every key blocked has weights 0 and leaves the others alone") {
  const std::vector<int> lengths = {3, 0};
  const Tensor scores = random_numbers({2, 2, 3, 3}, 1).requires_grad();  // [B, h, T, S]
  const Tensor pattern = softmax(scores, Allow::lengths(lengths, 3));     // [B, h, T, S]
  CHECK(same_bits(slice(pattern, 0, 0, 1), softmax(slice(scores, 0, 0, 1))));
  CHECK(same_bits(slice(pattern, 0, 1, 2), Tensor::zeros({1, 2, 3, 3})));
  sum(pattern * pattern).backward();
  for (const Tensor gradient = scores.grad(); Scalar g : gradient.values()) CHECK(std::isfinite(g));
}

TEST_CASE("masks of a batch give each item and head what it would get alone") {
  for (int64_t h : {2, 4}) {
    const Tensor scores = random_numbers({2, h, 3, 5}, 7);  // [B, h, T, S]
    std::vector<unsigned char> flags(size_t(2 * h * 15));
    Random random(3);
    for (unsigned char& f : flags) f = random.below(3) != 0;
    const Allow own(Shape{2, h, 3, 5}, flags);
    const Allow per_item({2, 1, 3, 5}, {flags.begin(), flags.begin() + 30});
    const Allow per_head(Shape{1, h, 3, 5}, {flags.begin(), flags.begin() + h * 15});
    const Allow same({3, 5}, {flags.begin(), flags.begin() + 15});
    const Allow per_query({1, 1, 3, 1}, {1, 0, 1});
    for (int64_t b = 0; b < 2; b++)
      for (int64_t n = 0; n < h; n++) {
        const Tensor alone = reshape(slice(slice(scores, 0, b, b + 1), 1, n, n + 1), {3, 5});  // [T, S]
        const auto mask_at = [&](int64_t i) {
          return Allow({3, 5}, {flags.begin() + i * 15, flags.begin() + (i + 1) * 15});
        };
        const auto part = [&](const Allow& mask) {
          return reshape(slice(slice(softmax(scores, mask), 0, b, b + 1), 1, n, n + 1), {3, 5});
        };
        CAPTURE(h, b, n);
        CHECK(same_bits(part(own), softmax(alone, mask_at(b * h + n))));
        CHECK(same_bits(part(per_item), softmax(alone, mask_at(b))));
        CHECK(same_bits(part(per_head), softmax(alone, mask_at(n))));
        CHECK(same_bits(part(same), softmax(alone, mask_at(0))));
        CHECK(same_bits(part(per_query), softmax(alone, Allow({3, 1}, {1, 0, 1}))));
      }
  }
}

TEST_CASE("both masks together allow what each of them allows") {
  const Allow both = Allow::causal(2, 3, 1) & Allow({1, 3}, {0, 1, 1});
  CHECK(both.shape() == Shape{2, 3});
  CHECK(both.flags() == std::vector<unsigned char>{0, 1, 0, 0, 1, 1});
  const std::vector<int> lengths = {1, 2};
  const Allow padded = Allow::causal(2, 2, 0) & Allow::lengths(lengths, 2);
  CHECK(padded.shape() == Shape{2, 1, 2, 2});
  CHECK(padded.flags() == std::vector<unsigned char>{1, 0, 1, 0, 1, 0, 1, 1});
}

TEST_CASE("a Bias is added to the scores and takes part in the gradient") {
  const Tensor bias = Tensor::from({1, 2}, {0, 1}).requires_grad();
  check_closely(softmax(Tensor::zeros({1, 2}), Bias{bias}), {1, 2}, {0.268941, 0.731059});
  const Tensor scores = random_numbers({2, 3, 2, 4}, 1), shared = random_numbers({2, 4}, 2);
  CHECK(same_bits(softmax(scores, Bias{shared}), softmax(scores + shared)));
  sum(softmax(Tensor::zeros({1, 2}), Bias{bias}) * Tensor::from({1, 2}, {1, 0})).backward();
  CHECK(bias.grad().at({0, 0}) == Approx(0.196612).epsilon(1e-5));
  CHECK(bias.grad().at({0, 1}) == Approx(-0.196612).epsilon(1e-5));
}

TEST_CASE("a Bias of -inf blocks as an Allow does") {
  const Tensor scores = random_numbers({2, 3}, 1);
  const Tensor bias = Tensor::from({2, 3}, {0, -infinity, 0, -infinity, -infinity, -infinity});
  CHECK(same_bits(softmax(scores, Bias{bias}), softmax(scores, Allow({2, 3}, {1, 0, 1, 0, 0, 0}))));
}

TEST_CASE("a long row of softmax sums to 1 and does not depend on its neighbours") {
  const Tensor x = random_numbers({5, 37}, 4);
  const Tensor y = softmax(x), total = sum(y, {1});  // [5, 37], [5]
  for (int64_t r = 0; r < 5; r++) {
    CHECK(total.at({r}) == Approx(1).epsilon(1e-6));
    CHECK(same_bits(slice(y, 0, r, r + 1), softmax(slice(x, 0, r, r + 1))));
  }
}

TEST_CASE("log_softmax is the logarithm of softmax, without overflow") {
  check_closely(log_softmax(Tensor::from({2, 2}, {1, 2, 3, 5})), {2, 2},
                {-1.313262, -0.313262, -2.126928, -0.126928});
  check_exactly(log_softmax(Tensor::from({3}, {0, 1000, -1000})), {3}, {-1000, 0, -2000});
  check_exactly(log_softmax(Tensor::from({2}, {0, -infinity})), {2}, {0, -infinity});
  check_exactly(log_softmax(Tensor::from({2}, {0, not_a_number})), {2}, {not_a_number, not_a_number});
}

// ---- norm, tables, dropout, loss

TEST_CASE("layernorm divides by n, and eps stands inside the root") {
  const Tensor one = Tensor::full({4}, 1), zero = Tensor::zeros({4});
  const Tensor y = layernorm(Tensor::from({1, 4}, {1, 0, 0, 0}), one, zero);  // [1, 4]
  check_closely(y, {1, 4}, {1.732005, -0.577335, -0.577335, -0.577335});
  check_closely(layernorm(Tensor::from({4}, {1, 0, 0, 0}), one, zero, Scalar(0.0625)), {4},
                {1.5, -0.5, -0.5, -0.5});  // sqrt(3/16 + 1/16) = 1/2
}

TEST_CASE("layernorm has a weight and a bias for each number of a row") {
  const Tensor weight = Tensor::from({2}, {2, -3}), bias = Tensor::from({2}, {10, 20});
  const Tensor y = layernorm(Tensor::from({2, 2}, {4, 2, -1, 5}), weight, bias, 0);  // [2, 2]
  check_exactly(y, {2, 2}, {12, 23, 8, 17});
}

TEST_CASE("layernorm of equal numbers is the bias, and a large mean costs no digits") {
  const Tensor one = Tensor::full({4}, 1), zero = Tensor::zeros({4});
  check_exactly(layernorm(Tensor::full({4}, 7), one, zero), {4}, {0, 0, 0, 0});
  check_closely(layernorm(Tensor::from({4}, {4097, 4096, 4096, 4096}), one, zero), {4},
                {1.732005, -0.577335, -0.577335, -0.577335});
}

TEST_CASE("embedding is one-hot rows times the table") {
  const Tensor table = random_numbers({4, 3}, 1);           // [V, D]
  const Tensor y = embedding(table, {2, 0, 2, 3}, {2, 2});  // [2, 2, D]
  const Tensor one_hot = Tensor::from({4, 4}, {0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  CHECK(same_bits(y, reshape(matmul(one_hot, table), {2, 2, 3})));
  CHECK(same_bits(embedding(table, {3}, {}), reshape(slice(table, 0, 3, 4), {3})));
}

TEST_CASE("the gradient of an embedding adds up where an id occurs twice") {
  const Tensor table = Tensor::zeros({3, 2}).requires_grad();  // [V, D]
  sum(embedding(table, {2, 0, 2}, {3}) * counting({3, 2})).backward();
  check_exactly(table.grad(), {3, 2}, {2, 3, 0, 0, 0 + 4, 1 + 5});
}

TEST_CASE("dropout keeps a share of 1 - p, scaled so that the mean stays") {
  Random random(1);
  const Tensor y = dropout(Tensor::full({100, 100}, 3), Scalar(0.25), random);  // [100, 100]
  int kept = 0;
  for (Scalar v : y.values()) {
    CHECK((v == 0 || v == 4));
    kept += v != 0;
  }
  CHECK(kept > 7370);  // 7500 within three standard deviations of 43
  CHECK(kept < 7630);
  CHECK(mean(y).item() == Approx(3).epsilon(0.02));
}

TEST_CASE("dropout of nothing changes nothing, and the same seed drops the same") {
  Random first(5), second(5), third(6);
  const Tensor x = random_numbers({6, 7}, 1);
  const Tensor y = dropout(x, Scalar(0.5), first);  // [6, 7]
  CHECK(same_bits(y, dropout(x, Scalar(0.5), second)));
  CHECK_FALSE(same_bits(y, dropout(x, Scalar(0.5), third)));
  CHECK(same_bits(dropout(x, 0, first), x));
}

TEST_CASE("cross entropy is minus the logarithm of the target's softmax, taken once") {
  const Tensor sure = cross_entropy(Tensor::from({1, 4}, {40, 0, 0, 0}), {0});  // []
  CHECK(sure.item() >= 0);
  CHECK(sure.item() < 1e-15);
  const Tensor logits = Tensor::from({2, 2}, {1, 2, 3, 5});
  check_closely(cross_entropy(logits, {0, 1}), {}, {(1.313262 + 0.126928) / 2});
  check_closely(cross_entropy(logits, {0, 1}, {.reduction = Reduction::sum}), {}, {1.313262 + 0.126928});
  check_closely(cross_entropy(logits, {0, 1}, {.reduction = Reduction::none}), {2}, {1.313262, 0.126928});
  check_closely(cross_entropy(Tensor::from({1, 2}, {1000, 0}), {1}), {}, {1000});
}

TEST_CASE("a loss per row has the shape of the targets") {
  const Tensor logits = random_numbers({2, 3, 4}, 1);  // [B, T, V]
  const std::vector<int> targets = {0, 1, 2, 3, 0, 1};
  const Tensor each = cross_entropy(logits, targets, {.reduction = Reduction::none});  // [B, T]
  CHECK(each.shape() == Shape{2, 3});
  for (int64_t r = 0; r < 6; r++) {
    const Tensor row = slice(reshape(logits, {6, 4}), 0, r, r + 1);  // [1, V]
    CHECK(each.data()[r] == cross_entropy(row, {targets[size_t(r)]}).item());
  }
}

TEST_CASE("ignored targets count neither in the sum nor in the number of rows") {
  const Tensor logits = Tensor::from({3, 2}, {1, 2, 7, 9, 3, 5});
  const Tensor rest = Tensor::from({2, 2}, {1, 2, 3, 5});
  CHECK(cross_entropy(logits, {0, -100, 1}).item() == cross_entropy(rest, {0, 1}).item());
  CHECK(cross_entropy(logits, {0, 1, 0}, {.ignore_index = 0}).item() ==
        cross_entropy(Tensor::from({1, 2}, {7, 9}), {1}).item());
  check_closely(cross_entropy(logits, {0, -100, 1}, {.reduction = Reduction::none}), {3},
                {1.313262, 0, 0.126928});
  CHECK(cross_entropy(logits, {-100, -100, -100}).item() == 0);
}

TEST_CASE("label smoothing gives every class its share") {
  // log softmax of [0, ln 3] is [-ln 4, ln 3 - ln 4]; 0.9 of the second and 0.1 of their mean
  const Tensor logits = Tensor::from({1, 2}, {0, Scalar(1.0986123)});
  const double right = 0.28768207, wrong = 1.38629436;
  check_closely(cross_entropy(logits, {1}, {.label_smoothing = Scalar(0.1)}), {},
                {0.9 * right + 0.1 * (right + wrong) / 2});
  check_closely(cross_entropy(logits, {1}, {.label_smoothing = 1}), {}, {(right + wrong) / 2});
}

// ---- nothing at all

TEST_CASE("tensors without numbers pass through every op") {
  const Tensor none = Tensor::zeros({0, 3}).requires_grad(), narrow = Tensor::zeros({2, 0}).requires_grad();
  const Tensor w = Tensor::full({3}, 1).requires_grad();
  Random random(1);
  const std::vector<Tensor> results = {
      none + none,
      none * w,
      none - Tensor::full({1, 3}, 1),
      none / Tensor::full({}, 2),
      scale(none, 2),
      exp(none),
      relu(none),
      reshape(none, {3, 0, 5}),
      transpose(none),
      permute(none, {1, 0}),
      concat({none, none}, 0),
      concat({none, none}, 1),
      slice(none, 1, 1, 2),
      matmul(none, Tensor::full({3, 2}, 1)),
      matmul(Tensor::zeros({2, 0, 4}), Tensor::zeros({4, 5})),
      sum(none, {1}),
      mean(none, {1}, true),
      softmax(none),
      softmax(narrow),
      softmax(none, Allow({0, 3}, {})),
      softmax(narrow, Allow({2, 0}, {})),
      log_softmax(none),
      log_softmax(narrow),
      layernorm(none, w, w),
      layernorm(narrow, Tensor::zeros({0}), Tensor::zeros({0})),
      embedding(Tensor::full({2, 3}, 1), {}, {0, 4}),
      dropout(none, Scalar(0.5), random),
      cross_entropy(none, {}, {.reduction = Reduction::none}),
      slice(w, 0, 2, 2),
  };
  for (const Tensor& y : results) {
    CHECK(y.size() == 0);
    if (y.has_node()) sum(y).backward();
  }
  for (const Tensor& x : {none, narrow}) CHECK(x.grad().size() == 0);
  for (const Tensor gradient = w.grad(); Scalar g : gradient.values()) CHECK(g == 0);
}

TEST_CASE("a sum over nothing is 0, a product over nothing is 0, and a mean of nothing is NaN") {
  check_exactly(sum(Tensor::zeros({0, 3})), {}, {0});
  check_exactly(sum(Tensor::zeros({0, 3}), {0}), {3}, {0, 0, 0});
  check_exactly(sum(Tensor::zeros({2, 0}), {1}), {2}, {0, 0});
  check_exactly(matmul(Tensor::zeros({2, 0}), Tensor::zeros({0, 3})), {2, 3}, {0, 0, 0, 0, 0, 0});
  check_exactly(concat({Tensor::zeros({2, 0}), counting({2, 1})}, 1), {2, 1}, {0, 1});
  check_exactly(cross_entropy(Tensor::zeros({0, 3}), {}), {}, {0});
  CHECK(std::isnan(mean(Tensor::zeros({0})).item()));
}
