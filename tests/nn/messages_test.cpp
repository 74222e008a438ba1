// The whole text of every error that src/nn throws, and of those from below that its users meet.
#include "catch.h"
#include "core/mask.h"
#include "helpers.h"
#include "nn/transformer.h"

using namespace headway;

namespace {

template <class F>
std::string shape_error(F f) {
  return message_of<ShapeError>(f);
}

std::string built(const MultiheadAttention::Options& options) {
  Random random(1);
  return shape_error([&] { MultiheadAttention(options, random); });
}

Tensor zeros(const Shape& shape, const char* name) { return Tensor::zeros(shape).named(name); }

}  // namespace

TEST_CASE("a width that the heads do not divide is refused with the head counts that do") {
  CHECK(shape_error([] {
          split_heads(zeros({2, 5, 10}, "tokens"), 3);
        }) == "split_heads: embed_dim 10 is not divisible by num_heads 3 (10 = 3 * 3 + 1)\n"
              "  x = tokens  [2, 5, 10]\n"
              "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
              "  hint: with embed_dim 10 use 1, 2, 5 or 10 heads, or make embed_dim 9 or 12");
  CHECK(built({.embed_dim = 14, .num_heads = 4}) ==
        "MultiheadAttention: embed_dim 14 is not divisible by num_heads 4 (14 = 4 * 3 + 2)\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 14 use 1, 2, 7 or 14 heads, or make embed_dim 12 or 16");
  CHECK(built({.embed_dim = 360, .num_heads = 7}) ==  // of 24 divisors the eight smallest, and the width
        "MultiheadAttention: embed_dim 360 is not divisible by num_heads 7 (360 = 7 * 51 + 3)\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 360 use 1, 2, 3, 4, 5, 6, 8, 9 or 360 heads, or make embed_dim 357 or 364");
}

TEST_CASE("more heads than columns, no heads and negative heads are refused") {
  CHECK(built({.embed_dim = 8, .num_heads = 16}) ==
        "MultiheadAttention: num_heads 16 is more than embed_dim 8\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 8 use 1, 2, 4 or 8 heads");
  CHECK(built({.embed_dim = 8, .num_heads = 0}) ==
        "MultiheadAttention: num_heads 0 is not at least 1\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 8 use 1, 2, 4 or 8 heads");
  CHECK(built({.embed_dim = 8, .num_heads = -2, .head_dim = 4}) ==
        "MultiheadAttention: num_heads -2 is not at least 1\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 8 use 1, 2, 4 or 8 heads");
  CHECK(built({.embed_dim = 1, .num_heads = 2}) ==
        "MultiheadAttention: num_heads 2 is more than embed_dim 1\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 1 use 1 head");
  CHECK(shape_error([] {
          split_heads(zeros({1, 2, 6}, "x"), 0);
        }) == "split_heads: num_heads 0 is not at least 1\n"
              "  x  [1, 2, 6]\n"
              "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
              "  hint: with embed_dim 6 use 1, 2, 3 or 6 heads");
  CHECK(built({.embed_dim = -8, .num_heads = 2}) ==
        "MultiheadAttention: embed_dim -8 and head_dim 0 do not make a layer\n"
        "  rule: embed_dim is at least 1; head_dim is at least 1, or 0 for embed_dim / num_heads");
}

TEST_CASE("a refused head count has allocated nothing") {
  Random random(1);
  const int64_t before = pool_use().live_bytes;
  CHECK_THROWS_AS(MultiheadAttention({.embed_dim = 10, .num_heads = 3}, random), ShapeError);
  CHECK(pool_use().live_bytes == before);
  CHECK(random.bits() == Random(1).bits());
}

TEST_CASE("tensors without their head axis, or with one too many, are refused") {
  CHECK(shape_error([] {
          split_heads(zeros({5, 10}, "tokens"), 2);
        }) == "split_heads: x has 2 axes, not 3\n"
              "  x = tokens  [5, 10]\n"
              "  rule: before the split a tensor is [B, T, D]");
  CHECK(shape_error([] {
          merge_heads(zeros({2, 5, 10}, "z"));
        }) == "merge_heads: z has 3 axes, not 4\n"
              "  z  [2, 5, 10]\n"
              "  rule: with heads a tensor is [B, h, T, d_h]\n"
              "  hint: split_heads makes it from [B, T, D]");
  const Tensor four = zeros({2, 3, 5, 4}, "four"), three = zeros({2, 5, 12}, "three");
  const std::string rest = " has 3 axes, not 4\n"
                           "  @ = three  [2, 5, 12]\n"
                           "  rule: with heads a tensor is [B, h, T, d_h]\n"
                           "  hint: split_heads makes it from [B, T, D]";
  const auto expected = [&](char role) {
    std::string text = "attention: " + std::string(1, role) + rest;
    text[text.find('@')] = role;
    return text;
  };
  CHECK(shape_error([&] { attention(three, four, four); }) == expected('q'));
  CHECK(shape_error([&] { attention(four, three, four); }) == expected('k'));
  CHECK(shape_error([&] { attention(four, four, three); }) == expected('v'));
}

TEST_CASE("q, k and v that do not go together are refused, each with its shape") {
  const Tensor q = zeros({2, 3, 5, 4}, "q");
  const auto message = [&](const Shape& k, const Shape& v) {
    return shape_error([&] { attention(q, zeros(k, "keys"), zeros(v, "values")); });
  };
  const std::string rule = "  rule: q [B, h, T, d_h], k [B, h, S, d_h], v [B, h, S, d_v]";
  CHECK(message({1, 3, 5, 4}, {1, 3, 5, 4}) == "attention: q has 2 items of 3 heads, k has 1 of 3\n"
                                               "  q  [2, 3, 5, 4]\n"
                                               "  k = keys  [1, 3, 5, 4]\n"
                                               "  v = values  [1, 3, 5, 4]\n" +
                                                   rule);
  CHECK(message({2, 6, 5, 4}, {2, 6, 5, 4}) == "attention: q has 2 items of 3 heads, k has 2 of 6\n"
                                               "  q  [2, 3, 5, 4]\n"
                                               "  k = keys  [2, 6, 5, 4]\n"
                                               "  v = values  [2, 6, 5, 4]\n" +
                                                   rule);
  CHECK(message({2, 3, 5, 8}, {2, 3, 5, 4}) == "attention: q has head_dim 4, k has 8\n"
                                               "  q  [2, 3, 5, 4]\n"
                                               "  k = keys  [2, 3, 5, 8]\n"
                                               "  v = values  [2, 3, 5, 4]\n" +
                                                   rule);
  CHECK(message({2, 3, 7, 4}, {2, 3, 6, 4}) ==
        "attention: k is [2, 3, 7] on its first three axes, v is [2, 3, 6]\n"
        "  q  [2, 3, 5, 4]\n"
        "  k = keys  [2, 3, 7, 4]\n"
        "  v = values  [2, 3, 6, 4]\n" +
            rule);
  CHECK(message({2, 3, 7, 4}, {1, 3, 7, 4}).substr(0, 65) ==
        "attention: k is [2, 3, 7] on its first three axes, v is [1, 3, 7]");
}

TEST_CASE("causal attention with other key counts asks for the past") {
  const Tensor q = zeros({1, 2, 2, 4}, "q"), k = zeros({1, 2, 5, 4}, "k");
  CHECK(message_of<ValueError>([&] { attention(q, k, k, {.is_causal = true}); }) ==
        "attention: is_causal with 2 queries and 5 keys needs to know the past\n"
        "  rule: query t sees keys 0 .. past + t, where past counts the keys before the first query\n"
        "  hint: after a cache of 3 keys it is past = 3; with nothing before it is past = 0");
  CHECK_THROWS_AS(attention(k, q, q, {.is_causal = true}), ValueError);
  CHECK(message_of<ValueError>([&] { attention(q, k, k, {.is_causal = true, .past = -1}); }) ==
        "Allow::causal: past -1 is below 0\n"
        "  rule: past counts the keys that stand before the first query");
}

TEST_CASE("Linear names the layer whose width does not fit") {
  Random random(2);
  const MultiheadAttention m({.embed_dim = 8, .num_heads = 2}, random);
  CHECK(shape_error([&] {
          m(zeros({2, 5, 6}, "tokens"));
        }) == "Linear: x has rows of 6 numbers, q_proj.weight takes 8\n"
              "  x = tokens  [2, 5, 6]\n"
              "  weight = q_proj.weight  [8, 8]\n"
              "  rule: x [..., in] times weight [in, out] gives [..., out]");
  CHECK(shape_error([&] {
          m.forward(zeros({2, 5, 8}, "x"), {}, zeros({2, 3, 7}, "memory"));
        }) == "Linear: x has rows of 7 numbers, k_proj.weight takes 8\n"
              "  x = memory  [2, 3, 7]\n"
              "  weight = k_proj.weight  [8, 8]\n"
              "  rule: x [..., in] times weight [in, out] gives [..., out]");
  CHECK_THROWS_AS(m.out_proj(zeros({8}, "row")), ShapeError);
  CHECK_THROWS_AS(m.out_proj(zeros({}, "number")), ShapeError);
}

TEST_CASE("a sequence longer than the position table and a token outside the vocabulary are refused") {
  Random random(3);
  const Transformer model(
      {.vocab_size = 7, .context = 4, .block = {.embed_dim = 6, .num_heads = 2, .mlp_dim = 5}}, random);
  CHECK(shape_error([&] {
          model({1, 2, 3, 4, 5}, 1, 5);
        }) == "Transformer: a sequence of 5 tokens is longer than the position table of 4 rows\n"
              "  positions = pos.weight  [4, 6]\n"
              "  rule: every position needs a row of its own\n"
              "  hint: build the model with context 5 or more, or cut the sequence");
  for (int token : {7, -1}) {
    CHECK(message_of<ValueError>([&] {
            model({1, 2, token, 0}, 2, 2);
          }) == text("embedding: id ", token, " at position 2 is outside the table of 7 rows\n",
                     "  table = tok.weight  [7, 6]\n", "  rule: ids run from 0 to 6\n",
                     "  hint: is the vocabulary too small, or the sequence longer than the position table?"));
  }
  CHECK(shape_error([&] {
          model({1, 2, 3}, 1, 4);
        }) == "embedding: 3 ids in shape [1, 4] cannot be looked up\n"
              "  table = tok.weight  [7, 6]\n"
              "  rule: the table is [V, D], and the shape of the ids holds exactly the ids");
}
