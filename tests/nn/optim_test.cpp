// Optimisers, clipping and schedules. Where a figure is PyTorch's, it comes from this program, with the
// optimiser of each test case put in for OPT (PyTorch 1.13, float64):
//
//   python3 -c "
//   import torch; torch.set_default_dtype(torch.float64)
//   w = torch.tensor([1.0, -0.5, 2.0], requires_grad=True); o = OPT
//   for g in [[.5, -2, .25], [1, 3, 0], [-.75, .5, .125], [2, -1, 4]]: w.grad = torch.tensor(g); o.step()
//   print(w.tolist())"
#include "nn/optim.h"

#include <cmath>
#include <limits>

#include "catch.h"
#include "core/ops.h"
#include "helpers.h"

using namespace headway;

namespace {

using Numbers = std::vector<double>;

Tensor parameter(const Numbers& values) {
  Tensor t = Tensor::zeros({int64_t(values.size())});
  assign(t, values);
  return t.requires_grad();
}

// Makes g the gradient of w: that of sum(w * g).
void set_grad(const Tensor& w, const Numbers& g) {
  Tensor factors = Tensor::zeros(w.shape());
  assign(factors, g);
  w.zero_grad();
  sum(w * factors).backward();
}

const std::vector<Numbers> four_gradients = {{0.5, -2, 0.25}, {1, 3, 0}, {-0.75, 0.5, 0.125}, {2, -1, 4}};

// Four steps from {1, -0.5, 2}; where rates are given, each step has its own.
template <class Optimiser, class... Settings>
Tensor after_four_steps(const std::vector<Scalar>& rates, const Settings&... settings) {
  const Tensor w = parameter({1, -0.5, 2});
  Optimiser optimiser({w}, settings...);
  for (size_t step = 0; step < 4; step++) {
    set_grad(w, four_gradients[step]);
    if (!rates.empty()) optimiser.lr = rates[step];
    optimiser.step();
  }
  return w;
}

Adam::Options rate(double lr) { return {.lr = Scalar(lr)}; }

}  // namespace

TEST_CASE("SGD goes against the gradient") {  // torch.optim.SGD([w], 0.1)
  CHECK(far_apart(after_four_steps<SGD>({}, Scalar(0.1)), {0.725, -0.55, 1.5625}) == "");
}

TEST_CASE("SGD with momentum starts from the first gradient") {  // torch.optim.SGD([w], 0.1, momentum=0.9)
  CHECK(far_apart(after_four_steps<SGD>({}, Scalar(0.1), Scalar(0.9)), {0.49955, -0.6202, 1.490275}) == "");
}

TEST_CASE("Adam corrects for its start: equal gradients give equal steps") {
  const Tensor w = parameter({0});
  Adam adam({w}, rate(0.1));
  for (double expected : {-0.1, -0.2, -0.3}) {  // without the correction -0.316228, -0.741187, -1.236210
    set_grad(w, {5});
    adam.step();
    CHECK(far_apart(w, {expected}, 1e-6) == "");
  }
  for (int step = 3; step < 60; step++) adam.step();  // the gradient is still 5
  CHECK(far_apart(w, {-6}, 1e-5) == "");
}

TEST_CASE("Adam counts steps, not parameters") {
  const Tensor a = parameter({0}), b = parameter({0});
  Adam adam({a, b}, rate(0.1));
  set_grad(a, {5});
  set_grad(b, {5});
  adam.step();
  CHECK(far_apart(a, {-0.1}, 1e-6) == "");
  CHECK(same_bits(a, b));  // a counter raised for each parameter moves the second by -0.074414
}

TEST_CASE("Adam takes PyTorch's steps") {
  // torch.optim.Adam([w], 0.1)
  CHECK(far_apart(after_four_steps<Adam>({}, rate(0.1)), {0.716870896668, -0.459019652764, 1.695840857753}) ==
        "");
  // torch.optim.Adam([w], 0.1, betas=(0.8, 0.95), eps=0.01): eps is added to the root, not under it
  const Adam::Options other = {
      .lr = Scalar(0.1), .beta1 = Scalar(0.8), .beta2 = Scalar(0.95), .eps = Scalar(0.01)};
  CHECK(far_apart(after_four_steps<Adam>({}, other), {0.723845606463, -0.467787865621, 1.705979759129}) ==
        "");
}

TEST_CASE("weight decay acts on the weight, not through the gradient") {
  // torch.optim.AdamW([w], 0.1, weight_decay=0.5); decay through the gradient gives 0.660461,
  // -0.428620, 1.619705
  const Adam::Options decay = {.lr = Scalar(0.1), .weight_decay = Scalar(0.5)};
  CHECK(far_apart(after_four_steps<Adam>({}, decay), {0.556367450353, -0.376732879774, 1.349394408905}) ==
        "");
  const Tensor w = parameter({2});  // with a gradient of 0 only the decay is left
  set_grad(w, {0});
  Adam adam({w}, decay);
  adam.step();
  CHECK(far_apart(w, {2 * 0.95}) == "");
}

TEST_CASE("a new learning rate holds from the next step on") {
  // for g, o.param_groups[0]['lr'] in zip([...], [0.1, 0.05, 0.2, 0.01]): ...
  const std::vector<Scalar> rates = {Scalar(0.1), Scalar(0.05), Scalar(0.2), Scalar(0.01)};
  CHECK(far_apart(after_four_steps<Adam>(rates, rate(7)),
                  {0.793023196081, -0.468527636692, 1.710453364378}) == "");
  CHECK(far_apart(after_four_steps<SGD>(rates, Scalar(7), Scalar(0.9)), {0.741505, -0.68022, 1.8553025}) ==
        "");
}

TEST_CASE("zero_grad clears every gradient, and without it gradients add up") {
  const Tensor w = parameter({3});
  sum(w * w).backward();
  sum(w * w).backward();
  CHECK(numbers(w.grad()) == Numbers{12});
  zero_grad({w});
  CHECK(numbers(w.grad()) == Numbers{0});
  sum(w * w).backward();
  CHECK(numbers(w.grad()) == Numbers{6});
}

TEST_CASE("clipping scales all gradients by one norm, and returns the norm before") {
  // torch.nn.utils.clip_grad_norm_([a, b], 1.0) for the gradients [3, -4] and [12, 0, 0.5]
  const Tensor a = parameter({0, 0}), b = parameter({0, 0, 0}), unused = parameter({1});
  set_grad(a, {3, -4});
  set_grad(b, {12, 0, 0.5});
  CHECK(double(clip_grad_norm({a, b, unused}, 20)) == Approx(13.009611831257688));
  CHECK(numbers(a.grad()) == Numbers{3, -4});  // below 20: untouched
  CHECK(numbers(b.grad()) == Numbers{12, 0, 0.5});
  CHECK(double(clip_grad_norm({a, b, unused}, 1)) == Approx(13.009611831257688));
  CHECK(far_apart(a.grad(), {0.23059871488196926, -0.307464953175959}) == "");
  CHECK(far_apart(b.grad(), {0.922394859527877, 0, 0.038433119146994876}) == "");
  CHECK(double(clip_grad_norm({a, b, unused}, 5)) == Approx(1));
}

TEST_CASE("warmup rises in a line to 1 and stays there") {
  for (int step = 0; step < 4; step++) CHECK(double(warmup(step, 4)) == Approx((step + 1) / 4.0));
  CHECK(warmup(4, 4) == 1);
  CHECK(warmup(1000, 4) == 1);
  CHECK(warmup(0, 1) == 1);
  CHECK(warmup(0, 0) == 1);
}

TEST_CASE("cosine falls from 1 to its last value along half a cosine") {
  const Numbers down = {1, 0.853553390593, 0.5, 0.146446609407, 0};  // (1 + cos(pi i / 4)) / 2
  for (int step = 0; step < 5; step++) {
    const double factor = down[size_t(step)];
    CHECK(double(cosine(step, 5)) == Approx(factor).margin(1e-6));
    CHECK(double(cosine(step, 5, Scalar(0.2))) == Approx(0.2 + 0.8 * factor).margin(1e-6));
  }
  CHECK(cosine(0, 1) == 1);  // a single step is the first
  for (const int step : {5, 6, 9, 1000}) {
    CHECK(double(cosine(step, 5)) == Approx(0).margin(1e-6));
    CHECK(double(cosine(step, 5, Scalar(0.2))) == Approx(0.2));
  }
}

TEST_CASE("a parameter given twice is refused by name, by both optimisers and by clipping") {
  const Tensor w = parameter({1}).named("w"), v = parameter({1});
  const std::string rest = ": parameters 0 and 2 are the same tensor\n"
                           "  parameter = w  [1]\n"
                           "  rule: a parameter is given once, or it would be stepped twice";
  const std::vector<Tensor> twice = {w, v, w};
  CHECK(message_of<ValueError>([&] { SGD(twice, Scalar(0.1)); }) == "SGD" + rest);
  CHECK(message_of<ValueError>([&] { Adam(twice, rate(0.1)); }) == "Adam" + rest);
  CHECK(message_of<ValueError>([&] { clip_grad_norm(twice, 1); }) == "clip_grad_norm" + rest);
  CHECK(message_of<ValueError>([&] {
          SGD({v, w.detach()}, Scalar(0.1));
        }) == "SGD: parameter 1 collects no gradient\n"
              "  parameter = w  [1]\n"
              "  rule: what is trained is made with .requires_grad()");
}

TEST_CASE("a parameter that no backward has reached is left alone, decay and momentum included") {
  const Tensor reached = parameter({1}), other = parameter({1});
  Adam adam({reached, other}, {.lr = Scalar(0.1), .eps = Scalar(1e-20), .weight_decay = Scalar(0.5)});
  SGD sgd({other}, Scalar(0.1), Scalar(0.9));
  set_grad(reached, {1});
  adam.step();
  sgd.step();
  CHECK(far_apart(reached, {0.85}) == "");  // 1 - 0.1 * 0.5 - 0.1
  CHECK(numbers(other) == Numbers{1});
}

TEST_CASE("clipping does not overflow, and refuses what has no norm") {
  const Tensor w = parameter({0, 0}).named("w"), v = parameter({0}).named("v");
  set_grad(w, {1.5e19, 1.5e19});
  CHECK(double(clip_grad_norm({w}, 1)) == Approx(2.1213203e19));
  CHECK(far_apart(w.grad(), {0.70710678118654752, 0.70710678118654752}) == "");
  set_grad(w, {3, 4});
  CHECK(clip_grad_norm({w}, 5) == 5);
  CHECK(numbers(w.grad()) == Numbers{3, 4});
  set_grad(v, {std::numeric_limits<double>::infinity()});
  CHECK(message_of<ValueError>([&] {
          clip_grad_norm({w, v}, 1);
        }) == "clip_grad_norm: 'grad of v' holds inf\n"
              "  gradient = grad of v  [1]\n"
              "  rule: a gradient that is not finite has no norm; none was changed\n"
              "  hint: look at the loss, or lower the learning rate");
  CHECK(numbers(w.grad()) == Numbers{3, 4});
  for (const double bad : {-1.0, 0.0, std::nan("")}) {
    CHECK(message_of<ValueError>([&] { clip_grad_norm({w}, Scalar(bad)); }) ==
          "clip_grad_norm: max_norm is " + (std::isnan(bad) ? std::string("nan") : text(bad)) +
              "\n  rule: the largest norm that gradients may have is above 0");
  }
}

TEST_CASE("options out of their range are refused by name and number") {
  const auto refusal = [](const Adam::Options& options) {
    return message_of<ValueError>([&] { Adam({parameter({1})}, options); });
  };
  const Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  CHECK(refusal({.eps = 0}) ==
        "Adam: eps is 0\n"
        "  rule: eps is finite and above 0: with a gradient of 0 the step would be 0 / 0");
  CHECK(refusal({.beta1 = 1}) == "Adam: beta1 is 1\n  rule: beta1 is at least 0 and below 1");
  CHECK(refusal({.beta2 = -1}) == "Adam: beta2 is -1\n  rule: beta2 is at least 0 and below 1");
  CHECK(refusal({.lr = nan}) == "Adam: lr is nan\n  rule: lr is at least 0 and below inf");
  CHECK(refusal({.weight_decay = -1}) ==
        "Adam: weight_decay is -1\n  rule: weight_decay is at least 0 and below inf");
  CHECK(message_of<ValueError>([] { SGD({parameter({1})}, -1); }) ==
        "SGD: lr is -1\n  rule: lr is at least 0 and below inf");
  CHECK(message_of<ValueError>([] { SGD({parameter({1})}, 1, 1); }) ==
        "SGD: momentum is 1\n  rule: momentum is at least 0 and below 1");
}

#ifndef SCALAR_DOUBLE
TEST_CASE("a number whose v overflows takes no step") {
  const Tensor w = parameter({1, 1, 1});
  Adam adam({w}, rate(0.1));
  set_grad(w, {2e19, 1e21, 1});
  adam.step();
  CHECK(far_apart(w, {1, 1, 0.9}) == "");
  set_grad(w, {0, 0, 0});
  adam.step();
  CHECK(w.at({0}) < 1);
  CHECK(w.at({1}) == 1);
}
#endif
