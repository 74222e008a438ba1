// The check of exercise 09-project. Expected values come from plain loops in double, or are written out.
#include <cmath>

#include "catch.h"
#include "course/tested.h"

using namespace headway;

namespace {

const Tested<Tensor(const Tensor&, const Tensor&, int64_t)> addend("addend");
const Tested<Tensor(const Tensor&, const Tensor&, const Tensor&)> project("project");
const Tested<Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                    int64_t)>
    self_attention("self_attention");

const std::vector<const char*> axes = {"batch", "token", "number"};

// -3 .. 3 in steps of a half, none of them in a pattern.
Tensor scrambled(const Shape& shape, int64_t step) {
  Tensor x = Tensor::zeros(shape);
  for (int64_t i = 0; i < x.size(); i++) {
    x.mutable_values()[size_t(i)] = Scalar((i * step + i / 13 * i + step) % 13 - 6) / 2;
  }
  return x;
}

// What heads first .. last of z add through their rows of W_O, plus b.
Tensor added(const Tensor& z, const Tensor& W_O, const Tensor& b, int64_t first, int64_t last) {
  const int64_t B = z.dim(0), T = z.dim(2), d_h = z.dim(3), D = W_O.dim(1);
  Tensor out = Tensor::zeros({B, T, D});  // [B, T, D]
  for (int64_t n = 0; n < B * T * D; n++) {
    const int64_t item = n / D / T, t = n / D % T, j = n % D;
    double sum = double(b.at({j}));
    for (int64_t i = first; i <= last; i++) {
      for (int64_t e = 0; e < d_h; e++)
        sum += double(z.at({item, i, t, e})) * double(W_O.at({i * d_h + e, j}));
    }
    out.mutable_values()[size_t(n)] = Scalar(sum);
  }
  return out;
}

void check_addends(const Tensor& z, const Tensor& W_O) {
  const Tensor none = Tensor::zeros({W_O.dim(1)});  // [D]
  for (int64_t i = 0; i < z.dim(1); i++) expect_equal(addend(z, W_O, i), added(z, W_O, none, i, i), axes);
}

void check_project(const Tensor& z, const Tensor& W_O) {
  const Tensor b_O = scrambled({W_O.dim(1)}, 3);  // [D]
  expect_equal(project(z, W_O, b_O), added(z, W_O, b_O, 0, z.dim(1) - 1), axes);
}

// x W of token t, column c.
double projected(const Tensor& x, const Tensor& W, int64_t item, int64_t t, int64_t c) {
  double sum = 0;
  for (int64_t d = 0; d < x.dim(2); d++) sum += double(x.at({item, t, d})) * double(W.at({d, c}));
  return sum;
}

// The z of every head: query t mixes the values of tokens 0 .. t.
Tensor attended(const Tensor& x, const Tensor& W_Q, const Tensor& W_K, const Tensor& W_V, int64_t h) {
  const int64_t B = x.dim(0), T = x.dim(1), d_h = W_Q.dim(1) / h;
  Tensor z = Tensor::zeros({B, h, T, d_h});  // [B, h, T, d_h]
  for (int64_t n = 0; n < B * h * T; n++) {
    const int64_t item = n / T / h, first = n / T % h * d_h, t = n % T;
    double total = 0;
    std::vector<double> mix(size_t(d_h), 0);  // [d_h]
    for (int64_t s = 0; s <= t; s++) {
      double score = 0;
      for (int64_t c = first; c < first + d_h; c++) {
        score += projected(x, W_Q, item, t, c) * projected(x, W_K, item, s, c);
      }
      const double weight = std::exp(score / std::sqrt(double(d_h)));
      total += weight;
      for (int64_t e = 0; e < d_h; e++) mix[size_t(e)] += weight * projected(x, W_V, item, s, first + e);
    }
    for (int64_t e = 0; e < d_h; e++)
      z.mutable_values()[size_t(n * d_h + e)] = Scalar(mix[size_t(e)] / total);
  }
  return z;
}

// A layer of h heads of width d_h on x [B, T, D].
void check_layer(const Shape& shape, int64_t h, int64_t d_h) {
  const int64_t D = shape[2];
  const auto part = [](Tensor t, Scalar by) {
    for (Scalar& number : t.mutable_values()) number *= by;
    return t;
  };
  const Scalar quarter = Scalar(0.25);
  const Tensor x = part(scrambled(shape, 7), quarter);  // [B, T, D]
  const Tensor W_Q = part(scrambled({D, h * d_h}, 4), quarter),
               W_K = part(scrambled({D, h * d_h}, 5), quarter);
  const Tensor W_V = part(scrambled({D, h * d_h}, 6), quarter),
               W_O = part(scrambled({h * d_h, D}, 8), quarter);
  const Tensor b_O = scrambled({D}, 3);  // [D]
  expect_equal(self_attention(x, W_Q, W_K, W_V, W_O, b_O, h),
               added(attended(x, W_Q, W_K, W_V, h), W_O, b_O, 0, h - 1), axes);
}

// Two heads of width 2 and one token: head 0 says (1 2), head 1 says (3 1).
const Tensor said = Tensor::from({1, 2, 1, 2}, {1, 2, 3, 1});                               // [B, h, T, d_h]
const Tensor narrow = Tensor::from({4, 2}, {1, 0, 0, 1, 2, 0, 0, -1});                      // [h d_h, D]
const Tensor one = Tensor::from({4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});  // [D, h d_h]
// The same two columns, and two more.
const Tensor square = Tensor::from({4, 4}, {1, 0, 5, 0,     //
                                            0, 1, 0, 5,     //
                                            2, 0, 0, 3,     //
                                            0, -1, 4, 0});  // [h d_h, D]
const Tensor tens = Tensor::from({4}, {10, 20, 30, 40});    // [D]

}  // namespace

TEST_CASE("addend: the two heads of the README add (1 2) and (6 -1)", "[addend-by-hand][points:1]") {
  expect_equal(addend(said, narrow, 0), Tensor::from({1, 1, 2}, {1, 2}), axes);
  expect_equal(addend(said, narrow, 1), Tensor::from({1, 1, 2}, {6, -1}), axes);
}

TEST_CASE("addend: two items of five tokens, three heads of width 4", "[addend][points:1]") {
  check_addends(scrambled({2, 3, 5, 4}, 7), scrambled({12, 12}, 4));
  check_addends(scrambled({2, 3, 5, 4}, 7), scrambled({12, 7}, 4));
}

TEST_CASE("project: the README's (7 1), two columns more, and the bias 10 20 30 40 once",
          "[project-by-hand][points:1]") {
  expect_equal(project(said, square, tens), Tensor::from({1, 1, 4}, {17, 21, 39, 59}), axes);
  expect_equal(project(said, narrow, Tensor::from({2}, {10, 20})), Tensor::from({1, 1, 2}, {17, 21}), axes);
}

TEST_CASE("project: two items of five tokens, three heads of width 4", "[project][points:1]") {
  check_project(scrambled({2, 3, 5, 4}, 7), scrambled({12, 12}, 4));
}

TEST_CASE("project: a W_O that is not square, as many items as heads, one item of one token",
          "[project-shapes][points:1]") {
  check_project(scrambled({2, 3, 5, 4}, 7), scrambled({12, 7}, 4));
  check_project(scrambled({3, 3, 5, 2}, 7), scrambled({6, 4}, 5));
  check_project(scrambled({1, 3, 1, 2}, 7), scrambled({6, 4}, 5));
}

TEST_CASE("self_attention: a token alone sees itself, so out is x W_V W_O + b_O", "[one-token][points:1]") {
  const Tensor x = Tensor::from({1, 1, 4}, {1, 2, 3, 1});  // [B, T, D]
  expect_equal(self_attention(x, scrambled({4, 4}, 4), scrambled({4, 4}, 5), one, square, tens, 2),
               Tensor::from({1, 1, 4}, {17, 21, 39, 59}), axes);
}

TEST_CASE("self_attention: if all scores are 0, token t gets the mean of tokens 0 .. t",
          "[running-mean][points:1]") {
  const Tensor x = Tensor::from({1, 3, 4}, {6, 0, 12, 3, 0, 6, 2, 1, 3, 9, 1, 5});  // [B, T, D]
  const Tensor none = Tensor::zeros({4, 4});                                        // [D, h d_h]
  const Tensor no_bias = Tensor::zeros({4});                                        // [D]
  expect_equal(self_attention(x, none, scrambled({4, 4}, 5), one, one, no_bias, 2),
               Tensor::from({1, 3, 4}, {6, 0, 12, 3, 3, 3, 7, 2, 3, 5, 5, 3}), axes);
}

TEST_CASE("self_attention: two items of five tokens, three heads of width 4", "[layer][points:2]") {
  check_layer({2, 5, 12}, 3, 4);
}

TEST_CASE("self_attention: h d_h is not D; one item; as many items as heads", "[layer-shapes][points:1]") {
  check_layer({2, 5, 7}, 3, 4);
  check_layer({1, 5, 6}, 2, 4);
  check_layer({3, 5, 8}, 3, 2);
}
