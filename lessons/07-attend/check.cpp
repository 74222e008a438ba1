// The check of exercise 07-attend. Expected values are those of the README, or come from plain loops in
// double.
#include <cmath>

#include "catch.h"
#include "course/tested.h"

using namespace headway;

namespace {

const Tested<Tensor(const Tensor&, const Tensor&, const Allow&)> pattern("pattern");
const Tested<Tensor(const Tensor&, const Tensor&, const Tensor&, const Allow&)> attend("attend");
const Tested<Allow(const std::vector<int>&, int64_t, int64_t)> may_see("may_see");

const std::vector<const char*> weights = {"batch", "head", "query", "key"};
const std::vector<const char*> numbers = {"batch", "head", "query", "number"};

// The README's scores [[1, 2], [3, 5]], times the square root of d_h = 4, as q k^T.
Tensor two_queries() {
  return Tensor::from({1, 1, 2, 4}, {2, 4, 0, 0, 6, 10, 0, 0});  // [B, h, T, d_h]
}
Tensor two_keys() {
  return Tensor::from({1, 1, 2, 4}, {1, 0, 0, 0, 0, 1, 0, 0});  // [B, h, S, d_h]
}

// From -1.5 to 1.5, in no pattern.
Tensor scrambled(const Shape& shape, int64_t step) {
  Tensor x = Tensor::zeros(shape);
  for (int64_t i = 0; i < x.size(); i++)
    x.mutable_values()[size_t(i)] = Scalar((i * step + 5) % 13 - 6) * Scalar(0.25);
  return x;
}

Allow everything(int64_t T, int64_t S) {
  return Allow({T, S}, std::vector<unsigned char>(size_t(T * S), 1));  // [T, S]
}

// One key of three is blocked, others in each item, head and query. No row is empty if S is 3 or more.
Allow two_of_three(int64_t B, int64_t h, int64_t T, int64_t S) {
  std::vector<unsigned char> flags;
  for (int64_t row = 0; row < B * h * T; row++) {
    const int64_t t = row % T, i = row / T % h, b = row / T / h;
    for (int64_t s = 0; s < S; s++) flags.push_back((b + i + 2 * t + s) % 3 != 0);
  }
  return Allow({B, h, T, S}, flags);
}

bool allowed(const Allow& allow, int64_t b, int64_t i, int64_t t, int64_t s) {
  Shape shape = allow.shape();
  if (shape.size() == 2) shape = {1, 1, shape[0], shape[1]};
  const int64_t row = (b % shape[0] * shape[1] + i % shape[1]) * shape[2] + t % shape[2];
  return allow.flags()[size_t(row * shape[3] + s)];
}

// The weights of query t: e^score where allowed, divided by their sum; 0 if there are none.
std::vector<double> row_of(const Tensor& q, const Tensor& k, const Allow& allow, int64_t b, int64_t i,
                           int64_t t) {
  const int64_t S = k.dim(2), d_h = k.dim(3);
  std::vector<double> row(size_t(S), 0.0);
  double total = 0;
  for (int64_t s = 0; s < S; s++) {
    if (!allowed(allow, b, i, t, s)) continue;
    double score = 0;
    for (int64_t j = 0; j < d_h; j++) score += double(q.at({b, i, t, j})) * double(k.at({b, i, s, j}));
    total += row[size_t(s)] = std::exp(score / std::sqrt(double(d_h)));
  }
  for (double& weight : row) weight = total == 0 ? 0 : weight / total;
  return row;
}

Tensor pattern_of(const Tensor& q, const Tensor& k, const Allow& allow) {
  const int64_t B = q.dim(0), h = q.dim(1), T = q.dim(2), S = k.dim(2);
  std::vector<Scalar> out;
  for (int64_t row = 0; row < B * h * T; row++)
    for (double weight : row_of(q, k, allow, row / T / h, row / T % h, row % T))
      out.push_back(Scalar(weight));
  return Tensor::from({B, h, T, S}, out);  // [B, h, T, S]
}

Tensor attended(const Tensor& q, const Tensor& k, const Tensor& v, const Allow& allow) {
  const int64_t B = q.dim(0), h = q.dim(1), T = q.dim(2), S = k.dim(2), d_v = v.dim(3);
  std::vector<Scalar> out;
  for (int64_t row = 0; row < B * h * T; row++) {
    const int64_t b = row / T / h, i = row / T % h;
    const std::vector<double> weight = row_of(q, k, allow, b, i, row % T);
    for (int64_t j = 0; j < d_v; j++) {
      double mix = 0;
      for (int64_t s = 0; s < S; s++) mix += weight[size_t(s)] * double(v.at({b, i, s, j}));
      out.push_back(Scalar(mix));
    }
  }
  return Tensor::from({B, h, T, d_v}, out);  // [B, h, T, d_v]
}

}  // namespace

TEST_CASE("pattern: the scores [[1, 2], [3, 5]] of the README", "[by-hand][points:1]") {
  const Tensor expected =
      Tensor::from({1, 1, 2, 2}, {0.268941, 0.731059, 0.119203, 0.880797});  // [B, h, T, S]
  expect_equal(pattern(two_queries(), two_keys(), everything(2, 2)), expected, weights);
}

TEST_CASE("pattern: two heads of 8 numbers; raw scores 8 and 0, and 0 and 4", "[scale][points:1]") {
  const Tensor ones = Tensor::full({1, 1, 1, 8}, 1), none = Tensor::zeros({1, 1, 1, 8});
  const Tensor q = concat({ones, ones}, 1);  // [B, h, T, d_h]
  const Tensor k =
      concat({concat({ones, none}, 2), concat({none, scale(ones, Scalar(0.5))}, 2)}, 1);  // [B, h, S, d_h]
  const Tensor expected =
      Tensor::from({1, 2, 1, 2}, {0.944193, 0.055807, 0.195570, 0.804430});  // [B, h, T, S]
  expect_equal(pattern(q, k, everything(1, 2)), expected, weights);
}

TEST_CASE("pattern: a blocked key gets weight 0, and the others share all of it", "[blocked][points:1]") {
  const Tensor q = Tensor::from({1, 1, 1, 4}, {2, 0, 0, 0});                          // [B, h, T, d_h]
  const Tensor k = Tensor::from({1, 1, 3, 4}, {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0});  // [B, h, S, d_h]
  const Tensor shared = Tensor::from({1, 1, 1, 3}, {0.268941, 0.731059, 0});          // [B, h, T, S]
  expect_equal(pattern(q, k, Allow({1, 3}, {1, 1, 0})), shared, weights);
  const Tensor equal = Tensor::zeros({1, 1, 2, 4});         // [B, h, S, d_h], both scores are 0
  const Tensor first = Tensor::from({1, 1, 1, 2}, {1, 0});  // [B, h, T, S]
  expect_equal(pattern(q, equal, Allow({1, 2}, {1, 0})), first, weights);
}

TEST_CASE("pattern: a mask for each item, of two heads or three; a mask for each head", "[masks][points:2]") {
  const Tensor q = scrambled({2, 3, 4, 6}, 7), k = scrambled({2, 3, 5, 6}, 4);  // [B, h, T, d_h], S = 5
  const Tensor q_2 = slice(q, 1, 0, 2), k_2 = slice(k, 1, 1, 3);                // as many heads as items
  const Allow per_item = two_of_three(2, 1, 4, 5), per_head = two_of_three(2, 3, 4, 5);
  expect_equal(pattern(q_2, k_2, per_item), pattern_of(q_2, k_2, per_item), weights);
  expect_equal(pattern(q, k, per_item), pattern_of(q, k, per_item), weights);
  expect_equal(pattern(q, k, per_head), pattern_of(q, k, per_head), weights);
}

TEST_CASE("pattern: a query that may see nothing gets weights 0, never NaN", "[dead-row][points:1]") {
  const Tensor q = scrambled({2, 3, 4, 6}, 7), k = scrambled({2, 3, 5, 6}, 4);  // [B, h, T, d_h], S = 5
  const Allow item_0_alone({2, 1, 1, 5}, {1, 1, 1, 1, 1, 0, 0, 0, 0, 0});
  expect_equal(pattern(q, k, item_0_alone), pattern_of(q, k, item_0_alone), weights);
  const Allow not_query_1({4, 5}, {1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0});
  expect_equal(pattern(q, k, not_query_1), pattern_of(q, k, not_query_1), weights);
}

TEST_CASE("attend: two values of three numbers, mixed by the weights of the README", "[mix][points:1]") {
  const Tensor v = Tensor::from({1, 1, 2, 3}, {1, 0, 10, 0, 1, 20});  // [B, h, S, d_v]
  const Tensor expected = Tensor::from(
      {1, 1, 2, 3}, {0.268941, 0.731059, 17.31059, 0.119203, 0.880797, 18.80797});  // [B, h, T, d_v]
  expect_equal(attend(two_queries(), two_keys(), v, everything(2, 2)), expected, numbers);
}

TEST_CASE("attend: two items of three heads, four queries, five keys; and one token alone",
          "[attend][points:1]") {
  const Tensor q = scrambled({2, 3, 4, 6}, 7), k = scrambled({2, 3, 5, 6}, 4);  // [B, h, T, d_h], S = 5
  const Tensor v = scrambled({2, 3, 5, 7}, 9);                                  // [B, h, S, d_v]
  const Allow mask = two_of_three(2, 1, 4, 5);
  expect_equal(attend(q, k, v, mask), attended(q, k, v, mask), numbers);
  const Allow nothing_in_item_1({2, 1, 1, 5}, {1, 1, 1, 0, 0, 0, 0, 0, 0, 0});
  expect_equal(attend(q, k, v, nothing_in_item_1), attended(q, k, v, nothing_in_item_1), numbers);
  const Tensor token = scrambled({1, 3, 1, 6}, 7), value = scrambled({1, 3, 1, 2}, 9);  // S = T = 1
  expect_equal(attend(token, token, value, everything(1, 1)), value, numbers);
}

TEST_CASE("may_see: the last T of S places see themselves and all before; T > S is refused",
          "[past][points:1]") {
  const Allow triangle({1, 1, 3, 3}, {1, 0, 0, 1, 1, 0, 1, 1, 1});
  expect_equal(may_see({3}, 3, 3), triangle, weights);
  const Allow four_and_five({1, 1, 2, 5}, {1, 1, 1, 1, 0, 1, 1, 1, 1, 1});
  expect_equal(may_see({5}, 2, 5), four_and_five, weights);
  expect_equal(may_see({5}, 1, 5), Allow({1, 1, 1, 5}, {1, 1, 1, 1, 1}), weights);
  expect_refused([] { may_see({3}, 5, 3); }, "5 queries cannot be the last of 3 places");
}

TEST_CASE("may_see: keys behind the length of their item are blocked in every row", "[padding][points:1]") {
  const Allow two_real({1, 1, 4, 4}, {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0});
  expect_equal(may_see({2}, 4, 4), two_real, weights);
  const Allow three_items({3, 1, 2, 5}, {1, 1, 1, 1, 0, 1, 1, 1, 1, 1,    // 5 real keys
                                         1, 1, 0, 0, 0, 1, 1, 0, 0, 0,    // 2
                                         0, 0, 0, 0, 0, 0, 0, 0, 0, 0});  // none
  expect_equal(may_see({5, 2, 0}, 2, 5), three_items, weights);
}
