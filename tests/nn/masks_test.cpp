// Masks: who may attend to whom, by value, and the faults people report.
#include <type_traits>

#include "catch.h"
#include "helpers.h"
#include "nn/transformer.h"

using namespace headway;

namespace {

Tensor item(const Tensor& t, int64_t b) { return slice(t, 0, b, b + 1); }

Allow allow_of(const Shape& shape, Random& random) {
  std::vector<unsigned char> flags(size_t(element_count(shape)));
  for (size_t i = 0; i < flags.size(); i++) flags[i] = i % size_t(shape.back()) == 0 || random.below(2) == 1;
  return Allow(shape, flags);
}

// The scores of q = k = 0 are all equal, so the pattern shows the mask alone.
Tensor equal_pattern(int64_t T, int64_t S, const Masking& masking) {
  return attention(Tensor::zeros({1, 1, T, 2}), Tensor::zeros({1, 1, S, 2}), Tensor::zeros({1, 1, S, 2}),
                   masking)
      .pattern;
}

constexpr double third = 1.0 / 3, quarter = 0.25, fifth = 0.2;

}  // namespace

TEST_CASE("a true in Allow means may attend") {
  CHECK(Allow::causal(3, 3, 0).flags() == std::vector<unsigned char>{1, 0, 0, 1, 1, 0, 1, 1, 1});
  CHECK(far_apart(equal_pattern(3, 3, {.is_causal = true}), {1, 0, 0, 0.5, 0.5, 0, third, third, third}) ==
        "");
}

TEST_CASE("Allow and Bias do not turn into each other, nor into a tensor") {
  CHECK_FALSE(std::is_convertible_v<Tensor, Allow>);
  CHECK_FALSE(std::is_convertible_v<Tensor, Bias>);
  CHECK_FALSE(std::is_convertible_v<Allow, Bias>);
  CHECK_FALSE(std::is_convertible_v<Bias, Allow>);
  CHECK_FALSE(std::is_convertible_v<Allow, Tensor>);
  // The same 0 and 1 in both: one blocks, the other adds.
  CHECK(numbers(equal_pattern(1, 2, {.allow = Allow({1, 2}, {1, 0})})) == std::vector<double>{1, 0});
  CHECK(far_apart(equal_pattern(1, 2, {.bias = Bias{Tensor::from({1, 2}, {0, 1})}}),
                  {0.268941421370, 0.731058578630}) == "");
}

TEST_CASE("blocked keys are left out, whatever their scores, and get no gradient") {
  const Scalar infinity = std::numeric_limits<Scalar>::infinity();
  const Allow two({1, 3}, {1, 1, 0});
  for (Scalar blocked : {Scalar(0), Scalar(50), infinity, -infinity}) {
    const Tensor scores = Tensor::from({1, 3}, {0, 0, blocked}).requires_grad();
    const Tensor pattern = softmax(scores, two);
    CHECK(numbers(pattern) == std::vector<double>{0.5, 0.5, 0});
    sum(pattern * Tensor::from({1, 3}, {1, 2, 4})).backward();
    CHECK(numbers(scores.grad()) == std::vector<double>{-0.25, 0.25, 0});
  }
  CHECK(far_apart(softmax(Tensor::from({1, 3}, {1, 2, 3}), two), {0.268941421370, 0.731058578630, 0}) == "");
}

TEST_CASE("an item with every key blocked has weights 0, and gives finite gradients everywhere") {
  Random random(1);
  const MultiheadAttention m({.embed_dim = 12, .num_heads = 3}, random);
  const Tensor x = random_tensor({2, 5, 12}, 2).requires_grad(), projection = random_tensor({2, 5, 12}, 3);
  const std::vector<int> lengths = {3, 0};
  const MultiheadAttention::Output both = m.forward(x, {.allow = Allow::lengths(lengths, 5)});
  CHECK(numbers(item(both.pattern, 1)) == std::vector<double>(3 * 5 * 5, 0));
  for (int64_t t = 0; t < 5; t++) {
    CHECK(same_bits(reshape(slice(item(both.out, 1), 1, t, t + 1), {12}), m.out_proj.bias));
  }
  const std::vector<int> first = {3};
  const MultiheadAttention::Output alone = m.forward(item(x, 0), {.allow = Allow::lengths(first, 5)});
  CHECK(same_bits(alone.out, item(both.out, 0)));

  sum(both.out * projection).backward();
  CHECK(all_finite(x.grad()));
  for (const Parameter& p : m.parameters()) {
    CAPTURE(p.name);
    CHECK(all_finite(p.tensor.grad()));
  }
  CHECK(numbers(item(x.grad(), 1)) == std::vector<double>(60, 0));
  const Tensor dx = x.grad();
  x.zero_grad();
  sum(alone.out * item(projection, 0)).backward();
  CHECK(same_bits(item(x.grad(), 0), item(dx, 0)));
}

TEST_CASE(
    "through a causal block, row i of the weights has i + 1 entries, and what is allowed is unchanged") {
  Random random(4);
  const Block block({.embed_dim = 12, .num_heads = 3, .mlp_dim = 7}, random);
  const Tensor x = random_tensor({2, 4, 12}, 5);
  Tensor causal, open;
  block(x, {.is_causal = true}, &causal);
  block(x, {}, &open);
  for (int64_t b = 0; b < 2; b++) {
    for (int64_t i = 0; i < 3; i++) {
      for (int64_t t = 0; t < 4; t++) {
        for (int64_t s = 0; s < 4; s++) CHECK((causal.at({b, i, t, s}) > 0) == (s <= t));
      }
    }
  }
  CHECK(same_bits(slice(causal, 2, 3, 4), slice(open, 2, 3, 4)));  // the last row may see everything
}

TEST_CASE("padding blocks the columns of the padded keys, and every row still sums to 1") {
  Random random(6);
  const Embedding tok(8, 6, random);
  const MultiheadAttention m({.embed_dim = 6, .num_heads = 2}, random);
  const std::vector<int> lengths = {2};
  const Tensor pattern = m.forward(tok({5, 7, 0, 0}, {1, 4}), {.allow = Allow::lengths(lengths, 4)}).pattern;
  for (int64_t i = 0; i < 2; i++) {
    for (int64_t t = 0; t < 4; t++) {
      CHECK(pattern.at({0, i, t, 2}) == 0);
      CHECK(pattern.at({0, i, t, 3}) == 0);
      CHECK(pattern.at({0, i, t, 0}) + pattern.at({0, i, t, 1}) == Approx(1));
    }
  }
}

TEST_CASE("masks that differ per item give what each item gives alone, also with as many heads as items") {
  for (int64_t h : {2, 4}) {
    const Tensor q = random_tensor({2, h, 5, 3}, 7), k = random_tensor({2, h, 6, 3}, 8),
                 v = random_tensor({2, h, 6, 3}, 9);
    Random random(10);
    for (const Shape& shape :
         {Shape{2, 1, 5, 6}, Shape{2, 1, 1, 6}, Shape{2, h, 5, 6}, Shape{1, h, 5, 6}, Shape{5, 6}}) {
      const Allow allow = allow_of(shape, random);
      const Tensor bias = random_tensor(shape, 11);
      const bool per_item = shape.size() == 4 && shape[0] == 2;
      const Tensor flags =
          Tensor::from(shape, std::vector<Scalar>(allow.flags().begin(), allow.flags().end()));
      const Tensor both = attention(q, k, v, {.allow = allow}).z;
      const Tensor both_biased = attention(q, k, v, {.bias = Bias{bias}}).z;
      for (int64_t b = 0; b < 2; b++) {
        const Tensor mine = per_item ? item(flags, b) : flags, my_bias = per_item ? item(bias, b) : bias;
        const Allow alone(mine.shape(), {mine.values().begin(), mine.values().end()});
        CAPTURE(h, to_text(shape), b);
        CHECK(same_bits(attention(item(q, b), item(k, b), item(v, b), {.allow = alone}).z, item(both, b)));
        CHECK(same_bits(attention(item(q, b), item(k, b), item(v, b), {.bias = Bias{my_bias}}).z,
                        item(both_biased, b)));
      }
    }
  }
}

TEST_CASE("a mask per item without a head axis is refused, although it would broadcast") {
  const Tensor q = Tensor::zeros({2, 2, 3, 4});
  const auto expected = [](const std::string& kind) {
    return "attention: " + kind +
           " [2, 3, 3] does not fit scores [2, 2, 3, 3]\n"
           "  scores = scale  [2, 2, 3, 3]\n"
           "  rule: a mask is [T, S], or has the rank of the scores, each size equal to theirs or 1\n"
           "  hint: one mask per item needs a head axis: reshape it to [2, 1, 3, 3]";
  };
  const Allow allow({2, 3, 3}, std::vector<unsigned char>(18, 1));
  const Bias bias{Tensor::zeros({2, 3, 3})}, too_many{Tensor::zeros({5, 1, 1, 3, 3})};
  CHECK(message_of<ShapeError>([&] { attention(q, q, q, {.allow = allow}); }) == expected("Allow"));
  CHECK(message_of<ShapeError>([&] { attention(q, q, q, {.bias = bias}); }) == expected("Bias"));
  CHECK_THROWS_AS(attention(q, q, q, {.bias = too_many}), ShapeError);
}

TEST_CASE("a causal query sees the past and itself") {
  CHECK(far_apart(equal_pattern(1, 5, {.is_causal = true, .past = 4}), std::vector<double>(5, fifth)) == "");
  CHECK(far_apart(equal_pattern(2, 5, {.is_causal = true, .past = 3}),
                  {quarter, quarter, quarter, quarter, 0, fifth, fifth, fifth, fifth, fifth}) == "");
  CHECK(far_apart(equal_pattern(2, 5, {.is_causal = true, .past = 0}), {1, 0, 0, 0, 0, 0.5, 0.5, 0, 0, 0}) ==
        "");
  CHECK(far_apart(equal_pattern(2, 2, {.is_causal = true, .past = 2}), {0.5, 0.5, 0.5, 0.5}) == "");
  CHECK_THROWS_AS(equal_pattern(2, 2, {.is_causal = true, .past = 3}), ValueError);
}

TEST_CASE("causal, allow and bias apply together, and a learned bias gets its gradient") {
  const Tensor bias = Tensor::from({3, 3}, {1, 9, 9, 2, 1, 9, 0, 5, 1}).requires_grad();
  const Masking masking = {
      .is_causal = true, .allow = Allow({3, 3}, {1, 1, 1, 1, 1, 1, 1, 0, 1}), .bias = Bias{bias}};
  const Tensor pattern = equal_pattern(3, 3, masking);
  CHECK(far_apart(pattern, {1, 0, 0, 0.731058578630, 0.268941421370, 0, 0.268941421370, 0, 0.731058578630}) ==
        "");
  sum(pattern * Tensor::from({3, 3}, {1, 1, 1, 1, 0, 1, 0, 1, 1})).backward();
  const double slope = 0.731058578630 * 0.268941421370;
  CHECK(far_apart(bias.grad(), {0, 0, 0, slope, -slope, 0, -slope, 0, slope}) == "");

  const Tensor q = random_tensor({1, 1, 3, 2}, 12);  // the scores are those before any mask
  CHECK(same_bits(attention(q, q, q, masking).scores, attention(q, q, q).scores));
}
