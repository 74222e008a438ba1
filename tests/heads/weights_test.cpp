#include "heads/weights.h"

#include "catch.h"
#include "nn/attention.h"
#include "nn/helpers.h"

using namespace headway;

namespace {
// Two heads of four tokens: head 0 looks at the token before, with 0.5, 1 and 0.75; head 1 at itself.
Tensor two_patterns() {
  const Scalar half = Scalar(0.5), quarter = Scalar(0.25);
  return Tensor::from({2, 4, 4}, {1, 0, 0, 0, half, half, 0, 0, 0, 1, 0, 0, 0, 0, 3 * quarter, quarter,
                                  1, 0, 0, 0, 0,    1,    0, 0, 0, 0, 1, 0, 0, 0, 0,           1})
      .named("patterns");  // [h, T, T]
}
}  // namespace

TEST_CASE("the mean weight k steps back, by hand") {
  const Tensor patterns = two_patterns();
  CHECK(weight_back(patterns, 0, 1, 1) == Approx((0.5 + 1 + 0.75) / 3));
  CHECK(weight_back(patterns, 0, 1, 2) == Approx(0.875));
  CHECK(weight_back(patterns, 0, 0, 0) == Approx((1 + 0.5 + 0 + 0.25) / 4));
  CHECK(weight_back(patterns, 0, 3, 3) == 0);
  CHECK(weight_back(patterns, 1, 0, 0) == 1);
  CHECK(head_looking_back(patterns, 1, 1) == 0);
  CHECK(head_looking_back(patterns, 0, 0) == 1);
  CHECK(head_looking_back(patterns, 3, 3) == 0);  // both 0: the first
}

TEST_CASE("weight_back refuses a head that is not there and steps that lead out of the line") {
  const Tensor patterns = two_patterns();
  CHECK(message_of<ValueError>([&] { (void)weight_back(patterns, 2, 3, 2); }) ==
        "weight_back: head 2, 3 steps back from query 2 on\n"
        "  patterns  [2, 4, 4]\n"
        "  rule: heads run from 0 to 1, and first from `steps` to 3");
  CHECK_THROWS_AS(weight_back(patterns, 0, 2, 1), ValueError);
  CHECK_THROWS_AS(weight_back(patterns, 0, 1, 4), ValueError);
  CHECK_THROWS_AS(weight_back(patterns, -1, 1, 1), ValueError);
}

TEST_CASE("without each head in turn: its numbers are gone, those of the others stay") {
  const Tensor gate = gate_without(3, 1);  // [h]
  CHECK(std::vector<Scalar>(gate.values().begin(), gate.values().end()) == std::vector<Scalar>{1, 0, 1});
  const Tensor z = Tensor::from({1, 3, 1, 1}, {5, 7, 11});  // [B, h, T, d_h]
  const std::vector<Scalar> left =
      without_each_head(3, [&](const Tensor& g) { return sum(gate_heads(z, g)).item(); });
  CHECK(left == std::vector<Scalar>{18, 16, 12});
  CHECK(message_of<ValueError>([] { (void)gate_without(3, 3); }) ==
        "gate_without: there is no head 3 in a layer of 3\n"
        "  rule: heads run from 0 to 2");
}
