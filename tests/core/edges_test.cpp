// Edges that were wrong once.
#include <cmath>
#include <limits>

#include "catch.h"
#include "core/gradcheck.h"
#include "core/node.h"
#include "core/ops.h"

using namespace headway;

#ifdef SCALAR_DOUBLE
TEST_CASE("gradient checks of right ops pass whatever the seed") {
  int refused = 0;
  for (uint64_t seed = 1; seed <= 100; seed++) {
    Random random(seed);
    const Tensor x = Tensor::uniform({2, 3, 4, 5}, -1, 1, random);
    refused +=
        !check_gradients("softmax", [](std::span<const Tensor> in) { return softmax(in[0]); }, {x}).passed;
  }
  CHECK(refused == 0);
}
#endif

TEST_CASE("a reshaped tensor has a name of its own, and writing into it leaves the other alone") {
  Tensor x = Tensor::from({2}, {1, 2}).named("x");
  Tensor y = reshape(x, {2, 1}).named("y");  // [2, 1]
  CHECK(x.name() == "x");
  y.mutable_values()[0] = 9;
  CHECK(x.at({0}) == 1);
}

TEST_CASE("reshape of an unnamed tensor does not name it") {
  Tensor x = Tensor::from({2}, {1, 2});
  reshape(x, {2, 1});
  CHECK(x.name() == "");
}

TEST_CASE("a refused backward has changed no gradient") {
  const Tensor a = Tensor::full({}, 2).requires_grad();
  Tensor b = Tensor::full({}, 3).requires_grad();
  const Tensor loss = b * b + exp(a);  // []
  b.mutable_values()[0] = 5;
  CHECK_THROWS_AS(loss.backward(), ValueError);
  CHECK(a.grad().item() == 0);
}

TEST_CASE("WatchForNaN does not blame an op whose input was NaN already") {
  const WatchForNaN check;
  const Tensor x = Tensor::from({1}, {std::numeric_limits<Scalar>::quiet_NaN()}).named("x");
  const std::string m = message_of<ValueError>([&] { scale(x, 2); });
  CHECK(m.find("no input was NaN") == std::string::npos);
}

TEST_CASE("a negative size is refused behind a 0 as well") {
  CHECK_THROWS_AS(Tensor::zeros({0, -1}), ShapeError);
}

TEST_CASE("a uniform number stays below its upper end") {
  CHECK(Random(0x31628af67b2131abu).uniform(1, 2) < 2);
}

TEST_CASE("memory that is not there is refused with a message, and the pool counts right afterwards") {
  const int64_t before = pool_use().live_bytes;
  std::string m;
  try {
    Tensor::uncleared({int64_t(1) << 39});
  } catch (const std::exception& e) { m = e.what(); }
  CHECK(m != "std::bad_alloc");
  CHECK(pool_use().live_bytes == before);
}

TEST_CASE("label smoothing outside 0 .. 1 is refused") {
  CHECK_THROWS_AS(cross_entropy(Tensor::zeros({1, 2}), {0}, {.label_smoothing = 2}), ValueError);
}

TEST_CASE("2^40 numbers are refused, as the rule says") {
  CHECK_THROWS_AS(element_count({int64_t(1) << 40}), ShapeError);
}

TEST_CASE("a handle on a gradient that was taken before backward sees it") {
  const Tensor w = Tensor::full({}, 3).requires_grad();
  const Tensor g = w.grad();
  (w * w).backward();
  CHECK(g.item() == w.grad().item());
}

TEST_CASE("a check that compared numbers does not say there was nothing to check") {
  const GradientCheck c = check_gradients("zero", [](std::span<const Tensor> in) { return scale(in[0], 0); },
                                          {Tensor::full({2}, 1)});
  CHECK(c.report != "zero: nothing to check");
}

TEST_CASE("a backward that writes nothing in the middle of a graph does not crash") {
  const Tensor x = Tensor::full({}, 2).requires_grad();
  Result y("mine", {}, {scale(x, 2)}, [](Node&) {});
  y.data()[0] = 1;
  y.done().backward();
  CHECK(x.grad().item() == 0);
}
TEST_CASE("no tensor at all is refused, not crashed on") {
  CHECK_THROWS_AS(Tensor() + Tensor::zeros({2}), std::exception);
}

TEST_CASE("the open size of a reshape is found without overflow") {
  const int64_t huge = int64_t(1) << 32;
  CHECK_THROWS_AS(reshape(Tensor::zeros({4}), {huge, huge, -1}), ShapeError);
  CHECK(reshape(Tensor::zeros({2, 6}), {3, -1}).shape() == Shape{3, 4});
  CHECK_THROWS_AS(reshape(Tensor::zeros({4}), {-1, -1}), ShapeError);
  CHECK_THROWS_AS(reshape(Tensor::zeros({0}), {0, -1}), ShapeError);
}

// ---- the ends of the number range

namespace {
constexpr Scalar infinite = std::numeric_limits<Scalar>::infinity();
constexpr Scalar not_a_number = std::numeric_limits<Scalar>::quiet_NaN();
const Scalar largest = Scalar(3e38);

using Unary = Tensor (*)(const Tensor& x);

// Value and slope of an op at one number.
std::pair<Scalar, Scalar> at(Unary op, Scalar value) {
  const Tensor x = Tensor::full({}, value).requires_grad();
  const Tensor y = op(x);  // []
  y.backward();
  return {y.item(), x.grad().item()};
}
}  // namespace

TEST_CASE("activations keep their slope at the ends of the number range") {
  for (const Scalar far : {Scalar(1.2e13), largest}) {
    for (const Unary op : {gelu_tanh, gelu_erf, relu}) {
      CHECK(at(op, far) == std::pair<Scalar, Scalar>(far, 1));
      CHECK(at(op, -far) == std::pair<Scalar, Scalar>(0, 0));
    }
    CHECK(at(tanh, far) == std::pair<Scalar, Scalar>(1, 0));
    CHECK(at(tanh, -far) == std::pair<Scalar, Scalar>(-1, 0));
    CHECK(at(sigmoid, far) == std::pair<Scalar, Scalar>(1, 0));
    CHECK(at(sigmoid, -far) == std::pair<Scalar, Scalar>(0, 0));
  }
}

TEST_CASE("a power of more than 64 keeps its sign, and value and slope agree") {
  const auto power = [](Scalar base, Scalar p) {
    const Tensor x = Tensor::full({}, base).requires_grad();
    const Tensor y = pow(x, p);  // []
    y.backward();
    return std::pair<double, double>(double(y.item()), double(x.grad().item()));
  };
  const double value = 36893488147419103232.0;  // 2^65
  CHECK(power(-2, 65).first == Approx(-value).epsilon(1e-5));
  CHECK(power(-2, 65).second == Approx(65 * value / 2).epsilon(1e-5));
  CHECK(power(-2, 66).first == Approx(2 * value).epsilon(1e-5));
  CHECK(power(-2, 66).second == Approx(-66 * value).epsilon(1e-5));
  CHECK(power(2, 65).first == Approx(value).epsilon(1e-5));
  CHECK(std::isnan(power(-2, Scalar(65.5)).first));
  CHECK(std::isnan(power(-2, Scalar(65.5)).second));
}

TEST_CASE("the root of a sum of squares has no slope at 0; a small number under the root gives it one") {
  const Tensor x = Tensor::zeros({3}).requires_grad();
  sqrt(sum(x * x)).backward();
  CHECK(std::isnan(x.grad().at({0})));
  const Tensor z = Tensor::zeros({3}).requires_grad();
  sqrt(sum(z * z) + Tensor::full({}, Scalar(1e-12))).backward();
  CHECK(z.grad().at({0}) == 0);
}

TEST_CASE("a row of scores that holds infinities or NaN, and its neighbours") {
  const Tensor x = Tensor::from({6, 2}, {0, 0, infinite, 0, not_a_number, 0, -infinite, -infinite,  //
                                         -infinite, 5, 0, 0});                                      // [T, S]
  const Tensor y = softmax(x);                                                                      // [T, S]
  const Scalar half = Scalar(0.5);
  for (const int64_t row : {0, 5}) CHECK(y.at({row, 0}) == half);
  for (const int64_t row : {1, 2}) {
    CHECK(std::isnan(y.at({row, 0})));
    CHECK(std::isnan(y.at({row, 1})));
  }
  CHECK(y.at({3, 0}) == 0);
  CHECK(y.at({3, 1}) == 0);
  CHECK(y.at({4, 0}) == 0);
  CHECK(y.at({4, 1}) == 1);
  // What is not allowed is not looked at.
  const Tensor masked = softmax(x, Allow({6, 2}, {1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1}));  // [T, S]
  for (const int64_t row : {1, 2}) {
    CHECK(masked.at({row, 0}) == 0);
    CHECK(masked.at({row, 1}) == 1);
  }
}

TEST_CASE("log_softmax of a row of -inf is -inf, the log of softmax's zeros") {
  const Tensor y = log_softmax(Tensor::from({2, 2}, {-infinite, -infinite, 0, -infinite}));  // [T, S]
  CHECK(y.at({0, 0}) == -infinite);
  CHECK(y.at({0, 1}) == -infinite);
  CHECK(y.at({1, 0}) == 0);
  CHECK(y.at({1, 1}) == -infinite);
}

#ifndef SCALAR_DOUBLE
TEST_CASE("layernorm of a row whose squares overflow is NaN, not 0, and leaves its neighbours alone") {
  const Tensor x =
      Tensor::from({2, 4}, {Scalar(1e19), Scalar(-1e19), Scalar(1e19), Scalar(-1e19), 1, -1, 1, -1});
  const Tensor y = layernorm(x, Tensor::full({4}, 1), Tensor::zeros({4}));  // [T, D]
  for (int64_t j = 0; j < 4; j++) CHECK(std::isnan(y.at({0, j})));
  CHECK(double(y.at({1, 0})) == Approx(0.999995));
}
#endif
